import process from 'node:process'
import { cleanLine, sequence } from '../terminal/clean.ts'
import { type Output, printText } from '../terminal/io.ts'

/** Terminals that know the sequence show the whole frame at once; others ignore it. */
const BEGIN_FRAME = sequence('?2026h')
const END_FRAME = sequence('?2026l')
const HIDE_CURSOR = sequence('?25l')
const REST_OF_LINE = sequence('K')
const REST_OF_SCREEN = sequence('J')
const SHOW_CURSOR = sequence('?25h')

/** Lines at the end of a terminal's output that are redrawn; `dispose` leaves the last ones there. */
export interface Screen extends Disposable {
  readonly size: { readonly width: number; readonly height: number }
  draw(lines: readonly string[]): void
  /** Leaves what is drawn, and draws the next lines below it. */
  moved(): void
}

export function openScreen(out: Output): Screen {
  let drawn = 0
  let open = false
  const close = (): void => {
    if (open) printText(out, SHOW_CURSOR)
    open = false
  }
  // A second Ctrl-C ends the process at once, so the cursor must be visible again before.
  process.on('exit', close)
  return {
    get size() {
      // The last column and line stay free: writing there makes some terminals scroll.
      return { width: (out.columns || 80) - 1, height: (out.rows || 24) - 1 }
    },
    draw(lines) {
      const home = drawn > 0 ? sequence(`${drawn}F`) : ''
      const body = lines.map((line) => `${cleanLine(line)}${REST_OF_LINE}\n`).join('')
      printText(out, `${BEGIN_FRAME}${open ? '' : HIDE_CURSOR}${home}${body}${REST_OF_SCREEN}${END_FRAME}`)
      open = true
      drawn = lines.length
    },
    moved() {
      drawn = 0
    },
    [Symbol.dispose]() {
      process.off('exit', close)
      close()
    },
  }
}
