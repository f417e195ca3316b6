/** The part of the protocol text-1.0 that a gadget in JavaScript or TypeScript needs; see docs/gadget-protocol.md. */

/**
 * @typedef {'run' | 'undo' | 'abort' | 'getlocks'} Mode
 * `job` names the job of a task: the same in each call for it, and another for another job with the same arguments.
 * @typedef {{ mode: Mode, args: string[], settings: Record<string, string>, job: string | null }} Call
 */

/** Splits the command line into the mode, plain arguments, and settings (`name=value`). */
export function readCall(argv = process.argv.slice(2)) {
  /** @type {Call} */
  const call = { mode: 'run', args: [], settings: {}, job: process.env.PHASELINE_JOB || null }
  for (const argument of argv) {
    const option = /^--(?:protocols?=(.*)|(undo|abort|getlocks))$/.exec(argument)
    const [, name, value] = /^([a-z][a-z0-9_-]*)=(.*)$/is.exec(argument) ?? []
    if (option?.[1] !== undefined && option[1] !== 'text-1.0') throw new Error(`The protocol ${option[1]} is unknown.`)
    if (option) call.mode = option[2] ?? call.mode
    else if (name !== undefined) call.settings[name] = value
    else call.args.push(argument)
  }
  return call
}

const line = (text) =>
  String(text)
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim()
const say = (text) => process.stdout.write(`${text}\n`)

/** Names the step that begins now. */
export const step = (text) => say(`STEP ${line(text)}`)
export const exportValue = (name, value) => say(`EXPORT ${name} ${JSON.stringify(value)}`)
/** Writes for people: standard error is the log of the call. */
export const note = (text) => process.stderr.write(`${text}\n`)

/** `lock('file', '/srv/a', 'S')`: blanks and the like in a resource's name are escaped. */
export const lock = (scheme, resource, mode = 'X') =>
  say(`LOCK ${scheme}:${resource.replaceAll(/[\s%]|\p{Cc}/gu, encodeURIComponent)}=${mode}`)

const TELL_MS = 200

/** Progress within the step, reported now and then: `const done = progress(12.5, 'MiB'); done(3)`. The end is always reported. */
export function progress(total, unit) {
  say(`PROGINFO ${decimal(total)} ${unit}`)
  let toldAt = Number.NEGATIVE_INFINITY
  return (value) => {
    const now = performance.now()
    if (value < total && now - toldAt < TELL_MS) return
    toldAt = now
    say(`PROG ${decimal(value)}`)
  }
}
const decimal = (value) => String(Math.round(value * 100) / 100)

/** Runs the gadget; what it throws becomes an `Error` line and exit code 1. Without `abort`, an abort is an undo. */
export async function gadget(modes) {
  try {
    const call = readCall()
    await (modes[call.mode] ?? modes.undo)(call)
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
