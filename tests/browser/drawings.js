// Run in a page by `test_view.py`: what it shows, and drawings of plans that the test made up.

const VIEW = "/ui/assets/view";
const all = (css, of = document) => [...of.querySelectorAll(css)];
const KINDS = ["service", "waits", "break"];

function shapes() {
  return {
    routes: all(".map .route").map((route) => [route.dataset.agent, all(".stop text", route).map((each) => each.textContent)]),
    depots: all(".map .depot text").map((each) => each.textContent),
    left: all(".map .cross").length,
    arrows: all(".map .arrow").length,
    bars: all(".times .row").map((row) => KINDS.map((kind) => all(`rect.${kind}`, row).length)),
  };
}

async function largePlan(plan, scenario) {
  const names = ["map", "map_canvas", "moment"];
  const [{ routeMap }, { canvasLayer }, { newMoment, setMoment }] = await Promise.all(names.map((name) => import(`${VIEW}/${name}.js`)));
  const [moment, selected] = [newMoment(), []];
  const map = routeMap(plan, scenario, { canvas: canvasLayer, moment, onSelect: (visit) => selected.push(visit.ticket_id) });
  document.querySelector("main").replaceChildren(map);
  const canvas = map.querySelector("canvas");
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const inked = () => pen.getImageData(0, 0, canvas.width, canvas.height).data.filter((value, at) => at % 4 === 3 && value > 0).length;
  const press = async (key) => {
    canvas.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    await drawn();
    return inked();
  };
  await drawn();
  const whole = inked();
  const enlarged = await press("+");
  await press("n");
  await press("Enter");
  setMoment(moment, 30000);
  await drawn();
  return { shapes: all("svg", map).length, whole, enlarged, hint: map.querySelector(".hint").textContent, selected, markup: all("script", map).length };
}

async function manyRows(plan) {
  const [{ timeline }, { stopsTable }] = await Promise.all(["timeline", "tables"].map((name) => import(`${VIEW}/${name}.js`)));
  const [times, table] = [timeline(plan), stopsTable(plan, {}, new Map())];
  const first = [all(".row", times).length, all("tbody tr", table).length];
  const choice = times.querySelector("select");
  choice.value = choice.options[1].value;
  choice.dispatchEvent(new Event("change"));
  all("button", table).at(-1).click();
  return [first, [all(".row", times).length, all("tbody tr", table).length], all(".row", times)[0].dataset.agent];
}

async function dates(plan, scenario) {
  const { timeline } = await import(`${VIEW}/timeline.js`);
  const drawn = timeline(plan, scenario);
  return [all(".day text", drawn).map((each) => each.textContent), all(".row .window", drawn).length];
}

// The pauses between attempts to connect while no server answers, where chance is `shares` in turn.
async function retries(shares) {
  const { PageEvents } = await import("/ui/assets/events.js");
  const [real, pauses] = [{ fetch, random: Math.random, setTimeout: setTimeout.bind(window) }, []];
  const watchdog = 15000;
  const done = new Promise((resolve) => {
    window.fetch = () => Promise.reject(new TypeError("Failed to fetch"));
    Math.random = () => shares[pauses.length % shares.length];
    window.setTimeout = (act, ms) => {
      if (ms === watchdog) return 0;
      pauses.push(ms);
      return pauses.length < 8 ? real.setTimeout(act, 0) : resolve();
    };
  });
  const events = new PageEvents(() => {});
  events.run();
  await done;
  events.stop();
  Object.assign(window, { fetch: real.fetch, setTimeout: real.setTimeout });
  Math.random = real.random;
  return pauses;
}
