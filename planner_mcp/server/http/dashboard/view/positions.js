// Where things of a scenario are, as points of a drawing.

const MARGIN = 30;
const METRES_PER_DEGREE = 111_195;
const LEAST_DEGREES = 1e-3;
const UNIT = 1e-5; // degrees: what a number of a coded line counts

export function placesOf(scenario) {
  const places = new Map();
  for (const place of scenario.locations ?? []) {
    if (place.x !== undefined && place.x !== null) places.set(place.id, { north: place.y, east: place.x, plane: true });
    else if (place.lat !== undefined && place.lat !== null) places.set(place.id, { north: place.lat, east: place.lon });
  }
  return places;
}

// West and east of the shortest span around all longitudes; east exceeds 180 where it crosses there.
function shortestSpan(easts) {
  const ordered = [...easts].sort((a, b) => a - b);
  let [gap, west] = [ordered[0] + 360 - ordered.at(-1), ordered[0]];
  ordered.slice(1).forEach((east, at) => east - ordered[at] > gap && ([gap, west] = [east - ordered[at], east]));
  return [west, west + 360 - gap];
}

export function projection(places, [width, height]) {
  const plane = places.some((place) => place.plane);
  const all = places.filter((place) => Boolean(place.plane) === plane);
  const [norths, easts] = [all.map((place) => place.north), all.map((place) => place.east)];
  const least = (values) => values.reduce((a, b) => Math.min(a, b));
  const most = (values) => values.reduce((a, b) => Math.max(a, b));
  const [south, north] = [least(norths), most(norths)];
  const [west, east] = plane ? [least(easts), most(easts)] : shortestSpan(easts);
  const stretch = plane ? 1 : Math.cos((((south + north) / 2) * Math.PI) / 180);
  const scale = Math.min(
    (width - 2 * MARGIN) / Math.max((east - west) * stretch, LEAST_DEGREES),
    (height - 2 * MARGIN) / Math.max(north - south, LEAST_DEGREES),
  );
  const middle = (west + east) / 2;
  const turned = (degrees) => (plane ? degrees : ((((degrees + 180) % 360) + 360) % 360) - 180);
  const point = (place) => [width / 2 + turned(place.east - middle) * stretch * scale, height / 2 - (place.north - (south + north) / 2) * scale];
  return { point, perMetre: plane ? scale : scale / METRES_PER_DEGREE, plane };
}

// The places of a line that is coded as differences: [north, east, north, east, …] from an origin.
export function decoded(numbers, [north, east]) {
  const places = [];
  for (let at = 0; at < numbers.length; at += 2) {
    north += numbers[at];
    east += numbers[at + 1];
    places.push({ north: north * UNIT, east: east * UNIT });
  }
  return places;
}

// 1, 2 or 5 times a power of ten, at most `target`.
export function roundStep(target) {
  const base = 10 ** Math.floor(Math.log10(target));
  return base * [5, 2, 1].find((step) => step * base <= target);
}

// The point of a line that is nearest to another point.
export function nearest(line, [px, py]) {
  let [found, least] = [line[0], Infinity];
  for (let at = 1; at < line.length; at += 1) {
    const [[x, y], [toX, toY]] = [line[at - 1], line[at]];
    const square = (toX - x) ** 2 + (toY - y) ** 2;
    const share = square > 0 ? Math.min(1, Math.max(0, ((px - x) * (toX - x) + (py - y) * (toY - y)) / square)) : 0;
    const point = [x + share * (toX - x), y + share * (toY - y)];
    const distance = Math.hypot(point[0] - px, point[1] - py);
    if (distance < least) [found, least] = [point, distance];
  }
  return found;
}
