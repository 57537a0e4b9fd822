// What a URL is, at a glance: a colour and a shape each, so that neither is needed to see the other.

const MARKS = [
  { name: "page", plural: "pages", color: "--page", fill: true, path: "M5 0a5 5 0 1 0 .01 0z" },
  { name: "file", plural: "files", color: "--file", fill: true, path: "M1 1h8v8h-8z" },
  { name: "redirect", plural: "redirects", color: "--redirect", fill: true, path: "M5 -.6L10.6 5L5 10.6L-.6 5z" },
  { name: "broken", plural: "broken", color: "--broken", fill: true, path: "M2 .2L5 3.2L8 .2L9.8 2L6.8 5L9.8 8L8 9.8L5 6.8L2 9.8L.2 8L3.2 5L.2 2z" },
  { name: "waiting", plural: "waiting", color: "--waiting", fill: false, path: "M5 .8a4.2 4.2 0 1 0 .01 0z" },
  { name: "not fetched", plural: "not fetched", color: "--held", fill: false, path: "M1.4 1.4h7.2v7.2h-7.2z" },
  { name: "other site", plural: "other sites", color: "--outside", fill: false, isOutside: true, path: "M5 1L9.4 8.8H.6z" },
  { name: "no page", plural: "no pages", color: "--outside", fill: true, isOutside: true, path: "M.5 4h9v2h-9z" },
];
const SVG = "http://www.w3.org/2000/svg";

/** A mark in words and as a picture. */
function markOf(kind) {
  const { name, color, fill, path } = MARKS[kind];
  const picture = document.createElementNS(SVG, "svg");
  picture.setAttribute("viewBox", "-1 -1 12 12");
  picture.setAttribute("class", `mark ${fill ? "full" : "hollow"} ${color.slice(2)}`);
  picture.setAttribute("role", "img");
  picture.setAttribute("aria-label", name);
  const line = document.createElementNS(SVG, "path");
  line.setAttribute("d", path);
  picture.append(line);
  return picture;
}
