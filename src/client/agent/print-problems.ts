import { asError } from '../as-error.ts'

/** The common shape of AgentProblem and CrmError. */
export interface Problem {
  readonly what: string
  readonly error: Error
  readonly objectId?: string
}
export interface PrintOptions {
  /** Prints one problem, most often a line. By default to standard error, in a browser to its console. */
  readonly print?: ((text: string) => void) | undefined
  /** Milliseconds in which the same problem is printed once; a minute by default. */
  readonly everyMs?: number | undefined
}

const EVERY_MS = 60_000
/** Different problems printed in that time: messages may differ by a name only. */
const MAX_PRINTED = 20
const MAX_CHARACTERS = 4_000

/**
 * The default `onProblem`: prints problems. A repeated problem is printed once per interval, followed by the number of
 * omitted ones.
 */
export function printProblems(who: string, options: PrintOptions = {}): (problem: Problem) => void {
  const { print = (text) => console.error(text), everyMs = EVERY_MS } = options
  const printed = new Set<string>()
  let omitted = 0
  const closeWindow = (): void => {
    if (omitted > 0) print(`${who}: ${omitted} more problems like these in the last ${everyMs / 1_000} s.`)
    omitted = 0
    printed.clear()
  }
  return (problem) => {
    const key = `${problem.what} ${problem.error.name} ${problem.error.message}`
    if (printed.has(key) || printed.size >= MAX_PRINTED) {
      omitted += 1
      return
    }
    if (printed.size === 0) unref(setTimeout(closeWindow, everyMs))
    printed.add(key)
    print(describe(who, problem))
  }
}

/** The application's `onProblem`, or the default one, which also prints what the application's throws. */
export function problemHandler<P extends Problem>(
  who: string,
  onProblem: ((problem: P) => unknown) | undefined,
): (problem: P) => void {
  const print = printProblems(who)
  if (!onProblem) return print
  const failed = (error: unknown): void => print({ what: 'onProblem', error: asError(error) })
  return (problem) => {
    try {
      // It may be async.
      Promise.resolve(onProblem(problem)).catch(failed)
    } catch (error) {
      failed(error)
    }
  }
}

function describe(who: string, { what, error, objectId }: Problem): string {
  const object = objectId === undefined ? '' : `, object ${objectId}`
  // The stack helps only with the agent author's own code.
  const text = what === 'work' && error.stack ? error.stack : error.message
  return `${who}${object}: ${what} failed: ${text}`.slice(0, MAX_CHARACTERS)
}

/** Lets the process end before the timer. A browser's timer is a number. */
function unref(timer: NodeJS.Timeout | number): void {
  if (typeof timer === 'object') timer.unref()
}
