import { inspect } from 'node:util'
import { sequence } from './clean.ts'
import type { Io, Output } from './io.ts'

export type Style = 'red' | 'green' | 'yellow' | 'cyan' | 'magenta' | 'dim' | 'bold'
/** Puts a style on a text, unless colours are off. */
export type Paint = (style: Style, text: string) => string

const coloured: Paint = (style, text) => {
  const [open, close] = (inspect.colors[style] ?? []).map((code) => sequence(`${code}m`))
  // A painted part within it ends with the same sequence.
  return open && close ? open + text.replaceAll(close, close + open) + close : text
}
const plainly: Paint = (_style, text) => text

export const painter = (on: boolean): Paint => (on ? coloured : plainly)

/** True for coloured output: NO_COLOR wins, then FORCE_COLOR, then a capable terminal. */
export function wantsColour(out: Output, env: Io['env']): boolean {
  if (env.NO_COLOR) return false
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== ''
  return isTerminal(out, env)
}

/** A terminal on which lines can be redrawn. */
export const isTerminal = (out: Output, env: Io['env']): boolean => out.isTTY === true && env.TERM !== 'dumb'
