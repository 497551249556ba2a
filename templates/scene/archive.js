// Packed data in the page, and files in the FMU.

export const { unpacked } = window; // of unpack.js, which this program comes by

// A glTF file whose indices are differences (mbfmu/scene/packing.py), as it was.
export function whole(glb) {
  const length = new DataView(glb.buffer, glb.byteOffset).getUint32(12, true);
  const { meshes = [], accessors, bufferViews } = JSON.parse(new TextDecoder().decode(glb.subarray(20, 20 + length)));
  for (const number of new Set(meshes.flatMap(({ primitives }) => primitives.map(({ indices }) => indices)))) {
    const { bufferView, componentType, count } = accessors[number], Kind = componentType === 5123 ? Uint16Array : Uint32Array;
    const indices = new Kind(glb.buffer, glb.byteOffset + 28 + length + (bufferViews[bufferView].byteOffset ?? 0), count);
    for (let i = 3; i < count; i++) indices[i] += indices[i - 3];
  }
  return glb;
}

// The entries of a zip archive by its central directory; each is as it is, not packed.
function* entriesOf(archive) {
  const view = new DataView(archive.buffer, archive.byteOffset, archive.byteLength);
  let end = archive.length - 22;
  while (end >= 0 && view.getUint32(end, true) !== 0x06054b50) end--;
  if (end < 0) throw new Error("the FMU in this page is damaged");
  let at = view.getUint32(end + 16, true);
  for (let left = view.getUint16(end + 10, true); left > 0; left--) {
    const name = archive.subarray(at + 46, at + 46 + view.getUint16(at + 28, true)), local = view.getUint32(at + 42, true);
    const next = at + 46 + name.length + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
    const begin = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
    const content = archive.subarray(begin, begin + view.getUint32(at + 20, true));
    yield { name, content, head: archive.slice(local, begin), entry: archive.slice(at, next) };
    at = next;
  }
}

export function fileIn(archive, wanted) {
  const text = new TextDecoder();
  for (const { name, content } of entriesOf(archive)) if (text.decode(name) === wanted) return content;
  throw new Error(`the FMU in this page has no ${wanted}`);
}

// The archive with its entries packed, as FMUs are.
export async function deflated(archive) {
  const parts = [], directory = [];
  let length = 0, count = 0;
  for (const { content, head, entry } of entriesOf(archive)) {
    const stream = new Blob([content]).stream().pipeThrough(new CompressionStream("deflate-raw"));
    const packed = new Uint8Array(await new Response(stream).arrayBuffer());
    // method and packed size, in the local header and in the directory; there also where the entry is
    for (const [header, method] of [[head, 8], [entry, 10]]) {
      const view = new DataView(header.buffer);
      view.setUint16(method, 8, true);
      view.setUint32(method + 10, packed.length, true);
    }
    new DataView(entry.buffer).setUint32(42, length, true);
    parts.push(head, packed);
    directory.push(entry);
    length += head.length + packed.length;
    count += 1;
  }
  const end = new DataView(new ArrayBuffer(22));
  end.setUint32(0, 0x06054b50, true);
  end.setUint16(8, count, true);
  end.setUint16(10, count, true);
  end.setUint32(12, directory.reduce((sum, entry) => sum + entry.length, 0), true);
  end.setUint32(16, length, true);
  return new Blob([...parts, ...directory, end]);
}

export function save(name, content, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
