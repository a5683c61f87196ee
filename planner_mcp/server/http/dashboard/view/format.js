// Numbers, times and distances as text. Times are seconds after midnight of the planning date.

export const HUES = 12; // colours of routes; the number of a route is shown too, so colour is never the only sign

export const clock = (seconds) => {
  const minutes = Math.round(seconds / 60);
  const day = Math.floor(minutes / 1440);
  const text = `${String(Math.floor(minutes / 60) % 24).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
  return day > 0 ? `${text} +${day}` : text;
};
export const figure = (value) =>
  value === undefined || value === null ? "–" : value.toLocaleString(undefined, { maximumFractionDigits: value < 100 ? 2 : 0 });
const isPlane = (plan) => ["plane", "unit legs"].includes(plan.travel?.source);
export const distance = (plan, metres) => (isPlane(plan) ? figure(metres) : `${figure(metres / 1000)} km`);
export const duration = (seconds) => `${Math.floor(seconds / 3600)} h ${String(Math.round((seconds % 3600) / 60)).padStart(2, "0")} min`;
