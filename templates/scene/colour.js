// Calm colours in the place of those of Modelica's library: pure red, blue and yellow hide form and light. What has
// another colour was given it, and keeps it.

import { Color, SRGBColorSpace } from "three";

const CALM = {
  "ff0000": "#c4604f", // joints
  "0080ff": "#4c7fb3", // bodies
  "008000": "#57966a", // forces
  "ffff00": "#d9b452", // sensors, lines
  "0000ff": "#5a6fc0", // springs
  "00e600": "#57a873", // gravity
  "9b9b9b": "#a4adb6", // rods
  "646464": "#6b747d", // dampers
};

export function calm(color) {
  const other = CALM[color.getHexString()];
  return other ? color.set(other) : color;
}

const DARK = 0.25; // lightness that shows over a dark ground

// What is nearly as dark as the ground is lifted from it, as far as it has light at all in its order.
export function lifted(color) {
  const own = color.getHSL({}, SRGBColorSpace);
  return own.l < 2 * DARK ? color.clone().setHSL(own.h, own.s, DARK + own.l / 2, SRGBColorSpace) : color;
}

export const isBlack = ({ r, g, b }) => r + g + b < 0.02;
export const OVER_DARK = new Color(0xaab4be);
