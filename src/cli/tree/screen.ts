import process from 'node:process'
import type { Output } from '../terminal/io.ts'

const ESC = '\u001b['
/** Terminals that know the sequence show the whole frame at once; others ignore it. */
const BEGIN_FRAME = `${ESC}?2026h`
const END_FRAME = `${ESC}?2026l`
const HIDE_CURSOR = `${ESC}?25l`
const SHOW_CURSOR = `${ESC}?25h`

/** Lines at the end of a terminal's output that are redrawn; `dispose` leaves the last ones there. */
export interface Screen extends Disposable {
  readonly size: { readonly width: number; readonly height: number }
  draw(lines: readonly string[]): void
}

export function openScreen(out: Output): Screen {
  let drawn = 0
  let open = false
  const close = (): void => {
    if (open) out.write(SHOW_CURSOR)
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
      const home = drawn > 0 ? `${ESC}${drawn}A\r` : ''
      const body = lines.map((line) => `${line}${ESC}K\n`).join('')
      out.write(`${BEGIN_FRAME}${open ? '' : HIDE_CURSOR}${home}${body}${ESC}J${END_FRAME}`)
      open = true
      drawn = lines.length
    },
    [Symbol.dispose]() {
      process.off('exit', close)
      close()
    },
  }
}
