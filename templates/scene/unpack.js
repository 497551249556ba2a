// Data of the page, which stands in it as text: base 85 with other signs for those that HTML knows, of a length and a
// raw stream of LZMA with lc = 3, lp = 0, pb = 0 (mbfmu/scene/packing.py). The page has this as it is: the viewer is packed.

window.unpacked = (id) => {
  const packed = ofBase85(document.getElementById(id).textContent.trim());
  return ofLzma(packed.subarray(4), new DataView(packed.buffer).getUint32(0, true));
};

function ofBase85(text) {
  const signs = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%.()*+-;,=/?@^_`{|}~";
  const digit = new Uint8Array(128), view = new DataView(new ArrayBuffer(4 * Math.ceil(text.length / 5)));
  for (let i = 0; i < signs.length; i++) digit[signs.charCodeAt(i)] = i;
  for (let i = 0; i < text.length; i += 5) {
    let number = 0;
    for (let k = i; k < i + 5; k++) number = number * 85 + (k < text.length ? digit[text.charCodeAt(k)] : 84);
    view.setUint32((i / 5) * 4, number);
  }
  return new Uint8Array(view.buffer, 0, Math.floor((text.length * 4) / 5));
}

function ofLzma(packed, size) {
  const bytes = new Uint8Array(size);
  // Chances of bits, of 2048, side by side: where each table begins.
  const MATCH = 0, REPEATED = 12, EARLIER = 24, LONG = 36, THIRD = 48, FOURTH = 60;
  const SLOT = 72, FAR = SLOT + 4 * 64, ALIGNED = FAR + 115, LENGTH = ALIGNED + 16, AGAIN = LENGTH + 274, LITERAL = AGAIN + 274;
  const chances = new Uint16Array(LITERAL + 8 * 0x300).fill(1024);
  let at = 5, range = 0xffffffff, code = new DataView(packed.buffer, packed.byteOffset).getUint32(1);

  const narrow = () => {
    if (range >= 0x1000000) return;
    range = (range << 8) >>> 0;
    code = ((code << 8) | packed[at++]) >>> 0;
  };
  const bit = (place) => {
    const bound = (range >>> 11) * chances[place], is1 = code >= bound;
    if (is1) {
      range -= bound;
      code -= bound;
      chances[place] -= chances[place] >> 5;
    } else {
      range = bound;
      chances[place] += (2048 - chances[place]) >> 5;
    }
    narrow();
    return is1 ? 1 : 0;
  };
  const evenBits = (count) => {
    let number = 0;
    for (; count > 0; count--) {
      range >>>= 1;
      const is1 = code >= range;
      if (is1) code -= range;
      number = number * 2 + (is1 ? 1 : 0);
      narrow();
    }
    return number;
  };
  const highFirst = (table, count) => {
    let node = 1;
    for (let i = 0; i < count; i++) node = 2 * node + bit(table + node);
    return node - (1 << count);
  };
  const lowFirst = (table, count) => {
    let node = 1, number = 0;
    for (let i = 0; i < count; i++) {
      const one = bit(table + node);
      node = 2 * node + one;
      number |= one << i;
    }
    return number;
  };
  // Two choices between tables of 8, 8 and 256 lengths.
  const lengthOf = (table) => {
    if (!bit(table)) return 2 + highFirst(table + 2, 3);
    return bit(table + 1) ? 18 + highFirst(table + 18, 8) : 10 + highFirst(table + 10, 3);
  };
  const distanceOf = (length) => {
    const slot = highFirst(SLOT + 64 * Math.min(length - 2, 3), 6), count = (slot >> 1) - 1;
    if (slot < 4) return slot;
    const begin = (2 | (slot & 1)) * 2 ** count;
    if (slot < 14) return begin + lowFirst(FAR + begin - slot, count);
    return begin + evenBits(count - 4) * 16 + lowFirst(ALIGNED, 4);
  };

  let state = 0, last = 0, second = 0, third = 0, fourth = 0; // distances, less 1
  for (let to = 0; to < size; ) {
    if (!bit(MATCH + state)) {
      const table = LITERAL + 0x300 * (to ? bytes[to - 1] >> 5 : 0);
      let node = 1;
      if (state >= 7) {
        // the byte at the last distance, from which this one differs, foretells its bits until one does
        for (let other = bytes[to - last - 1], same = true; node < 256 && same; other <<= 1) {
          const foretold = (other >> 7) & 1, one = bit(table + ((1 + foretold) << 8) + node);
          node = 2 * node + one;
          same = foretold === one;
        }
      }
      while (node < 256) node = 2 * node + bit(table + node);
      bytes[to++] = node;
      state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
      continue;
    }
    let length = 1;
    if (!bit(REPEATED + state)) {
      length = lengthOf(LENGTH);
      [last, second, third, fourth] = [distanceOf(length), last, second, third];
      state = state < 7 ? 7 : 10;
    } else {
      let isLong = true;
      if (!bit(EARLIER + state)) isLong = bit(LONG + state) === 1;
      else if (!bit(THIRD + state)) [last, second] = [second, last];
      else if (!bit(FOURTH + state)) [last, second, third] = [third, last, second];
      else [last, second, third, fourth] = [fourth, last, second, third];
      if (isLong) length = lengthOf(AGAIN);
      state = state < 7 ? (isLong ? 8 : 9) : 11;
    }
    const from = to - last - 1;
    if (from < 0 || to + length > size) throw new Error("its data are damaged");
    for (let i = 0; i < length; i++) bytes[to++] = bytes[from + i];
  }
  return bytes;
}
