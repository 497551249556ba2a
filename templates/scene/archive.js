// Packed data in the page, and files in the FMU.

async function through(bytes, format) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream(format));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export const { bytesOf } = window; // of page.html, which this program comes by

export const unpacked = async (id) => through(bytesOf(id), "gzip");

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

// A file of a zip archive, by its central directory.
export async function fileIn(archive, name) {
  const view = new DataView(archive.buffer, archive.byteOffset, archive.byteLength), text = new TextDecoder();
  let end = archive.length - 22;
  while (end >= 0 && view.getUint32(end, true) !== 0x06054b50) end--;
  if (end < 0) throw new Error("the FMU in this page is damaged");
  let at = view.getUint32(end + 16, true);
  for (let left = view.getUint16(end + 10, true); left > 0; left--) {
    const length = view.getUint16(at + 28, true);
    if (text.decode(archive.subarray(at + 46, at + 46 + length)) === name) {
      const method = view.getUint16(at + 10, true), size = view.getUint32(at + 20, true), local = view.getUint32(at + 42, true);
      const begin = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
      const content = archive.subarray(begin, begin + size);
      return method === 0 ? content : through(content, "deflate-raw");
    }
    at += 46 + length + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  throw new Error(`the FMU in this page has no ${name}`);
}

export function save(name, content, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
