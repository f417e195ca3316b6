import { constants } from 'node:os'

/** A program that a signal ends has 128 and the signal's number as its exit code; one that exits so itself counts as such. */
const SIGNALLED = 128
const SIGNALS = new Map<number, string>(Object.entries(constants.signals).map(([name, number]) => [number, name]))

/** One of the two is null. */
export interface Exit {
  readonly exitCode: number | null
  readonly signal: string | null
}

export function exitOf(code: number): Exit {
  const signal = SIGNALS.get(code - SIGNALLED)
  return signal === undefined ? { exitCode: code, signal: null } : { exitCode: null, signal }
}
