export const FORECAST_FRAGMENT = `fragment Expected on TreeObject {
  forecast { p50 p90 runs endedRuns criticalPath(first: 5) { id path } }
}` as const
export interface ShownForecast {
  readonly p50: string | null
  readonly p90: string | null
  readonly runs: number
}

/**
 * e.g. `about 3m 05s left, at most 5m 10s in 9 of 10 runs`; null: there is no forecast.
 * @param left empty for what has not begun
 */
export function forecastText(
  forecast: ShownForecast | null | undefined,
  now: number,
  duration: (ms: number) => string,
  left = ' left',
): string | null {
  if (!forecast) return null
  const { p50, p90, runs } = forecast
  if (p50 === null) return `longer than ${runs === 1 ? 'its only earlier run' : `each of its ${runs} earlier runs`}`
  const until = (at: string) => duration(Math.max(0, Date.parse(at) - now))
  return `about ${until(p50)}${left}${p90 === null ? '' : `, at most ${until(p90)} in 9 of 10 runs`}`
}
