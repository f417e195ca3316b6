const NAMES: Readonly<Record<number, string>> = {
  10: 'TRACE',
  20: 'DEBUG',
  30: 'INFO',
  40: 'WARN',
  50: 'ERROR',
  60: 'FATAL',
}
const INFO = 30

interface LogLine {
  readonly level: number
  /** Milliseconds since 1970. */
  readonly time: number
  readonly msg?: string
  readonly err?: { readonly message?: string; readonly stack?: string }
  readonly [detail: string]: unknown
}

/**
 * A JSON line of the log as lines for people, without the process that it is from. Ordinary news has no details: those are
 * for operators, whose tools read JSON.
 */
export function readableLog(json: string): readonly string[] {
  const { level, time, msg, err, pid: _pid, hostname: _hostname, ...details } = JSON.parse(json) as LogLine
  const shown = level === INFO ? [] : Object.entries(details).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  const text = [msg ?? err?.message ?? '', ...shown].join(' ')
  const clock = new Date(time).toTimeString().slice(0, 'hh:mm:ss'.length)
  const stack = (err?.stack ?? err?.message ?? '').split('\n').filter(Boolean)
  return [`${clock} ${(NAMES[level] ?? String(level)).padEnd(5)} ${text}`, ...stack.map((line) => `  ${line}`)]
}
