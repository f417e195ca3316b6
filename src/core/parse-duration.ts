const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g

/** `90s`, `10m`, `1h30m`, `500ms` in milliseconds; null when it is no duration. */
export function parseDuration(text: string): number | null {
  const parts = [...text.matchAll(PART)]
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text.replaceAll(' ', '')) return null
  const ms = parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNITS[unit ?? ''] ?? Number.NaN), 0)
  return Number.isInteger(ms) && ms > 0 ? ms : null
}

/** e.g. `1h30m`; parseDuration reads it back as the same. */
export function writeDuration(ms: number): string {
  let rest = ms
  const parts: string[] = []
  for (const [unit, size] of Object.entries(UNITS).toReversed()) {
    const count = Math.floor(rest / size)
    rest -= count * size
    if (count > 0) parts.push(`${count}${unit}`)
  }
  return parts.join('') || '0s'
}
