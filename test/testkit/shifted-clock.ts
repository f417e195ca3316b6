import { existsSync, globSync, renameSync, writeFileSync } from 'node:fs'

/**
 * A wall clock of a process's own, which a test may set while the process runs. Its monotonic clock is that of the machine, as
 * it is when somebody sets the time.
 */

export interface ClockOptions {
  /** Ahead of, or behind, the clock of the machine: `+14s`, `-600s`. */
  readonly offset: string
}
export interface ShiftedClock {
  /** Environment of the process. */
  readonly env: Readonly<Record<string, string>>
  set(offset: string): void
}

const HINT = 'The tests need libfaketime. Install it, e.g.: sudo apt-get install -y faketime'
const PLACES = ['/usr/lib/*/faketime/libfaketimeMT.so.1', '/usr/lib*/faketime/libfaketimeMT.so.1']

const findLibrary = (): string | undefined => globSync(PLACES).find((path) => existsSync(path))

/** @param file is read by the process whenever it reads its clock */
export function shiftClock(file: string, { offset }: ClockOptions): ShiftedClock {
  const library = findLibrary()
  if (!library) throw new Error(HINT)
  const set = (next: string): void => {
    // In one piece: it may be read at any time.
    writeFileSync(`${file}.new`, `${next}\n`)
    renameSync(`${file}.new`, file)
  }
  set(offset)
  return {
    set,
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      // A killed process would leave this in /dev/shm.
      FAKETIME_DISABLE_SHM: '1',
      // By its new and its old name.
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
    },
  }
}
