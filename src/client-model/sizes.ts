const UNITS = ['bytes', 'KiB', 'MiB', 'GiB'] as const

/** Bytes as people read them, e.g. `1.5 MiB`. */
export function sizeOf(bytes: number): string {
  let [size, power] = [bytes, 0]
  while (size >= 1_024 && power < UNITS.length - 1) [size, power] = [size / 1_024, power + 1]
  return `${power === 0 ? bytes : size.toFixed(1)} ${UNITS[power]}`
}
