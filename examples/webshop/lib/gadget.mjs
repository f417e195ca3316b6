/** The part of the protocol text-1.0 that every gadget of this example needs; see docs/gadget-protocol.md. */

/** Splits the command line into the mode (`run`, `undo`, `abort`, `getlocks`), plain arguments and `key=value` settings. */
export function readCall(argv = process.argv.slice(2)) {
  const call = { mode: 'run', args: [], settings: {} }
  for (const argument of argv) {
    const option = /^--(?:protocols?=(.*)|(undo|abort|getlocks))$/.exec(argument)
    const setting = /^([a-zA-Z]+)=(.*)$/s.exec(argument)
    if (option?.[1] !== undefined && option[1] !== 'text-1.0')
      throw new Error(`There is no protocol ${option[1]} here.`)
    if (option) call.mode = option[2] ?? call.mode
    else if (setting) call.settings[setting[1]] = setting[2]
    else call.args.push(argument)
  }
  return call
}

const line = (text) => String(text).replaceAll(/[\p{Cc}]+/gu, ' ')
const say = (text) => process.stdout.write(`${text}\n`)

export const step = (text) => say(`STEP ${line(text)}`)
export const progressOf = (total, unit) => say(`PROGINFO ${total} ${unit}`)
export const progress = (done) => say(`PROG ${done}`)
export const exportValue = (name, value) => say(`EXPORT ${name} ${JSON.stringify(value)}`)
export const lock = (resource) => say(`LOCK ${resource}=X`)
/** For people: standard error is the log of the call. */
export const note = (text) => process.stderr.write(`${text}\n`)

/** Runs the gadget; what it throws becomes an `Error` line and the exit code 1. */
export async function runGadget(modes) {
  try {
    const call = readCall()
    // An abort undoes the run as well, unless the gadget has an abort of its own.
    const mode = modes[call.mode] ?? (call.mode === 'abort' ? modes.undo : undefined)
    await mode?.(call)
  } catch (error) {
    say(`Error ${line(error instanceof Error ? error.message : error)}`)
    process.exitCode = 1
  }
}

/** A setting that must be there. */
export function setting({ settings }, name) {
  const value = settings[name]
  if (!value) throw new Error(`The argument ${name}=… is missing.`)
  return value
}
