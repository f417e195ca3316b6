/** As AgentProblem and CrmTrouble have it. */
export interface Problem {
  readonly what: string
  readonly error: Error
  readonly objectId?: string
}
export interface PrintOptions {
  /** One problem, most often a line. By default it goes to standard error, in a browser to its console. */
  readonly print?: ((text: string) => void) | undefined
  /** Milliseconds in which the same problem is printed once; a minute by default. */
  readonly everyMs?: number | undefined
}

const EVERY_MS = 60_000
/** Different problems that are printed in that time: messages may differ by a name only. */
const MAX_PRINTED = 20
const MAX_CHARACTERS = 4_000

/**
 * What an agent does about its problems when nobody else listens: it prints them. A problem that repeats itself is printed
 * once in a while, and then how many were left out.
 */
export function printProblems(who: string, options: PrintOptions = {}): (problem: Problem) => void {
  const { print = (text) => console.error(text), everyMs = EVERY_MS } = options
  const printed = new Set<string>()
  let leftOut = 0
  const closeWindow = (): void => {
    if (leftOut > 0) print(`${who}: ${leftOut} more problems like these in the last ${everyMs / 1_000} s.`)
    leftOut = 0
    printed.clear()
  }
  return (problem) => {
    const key = `${problem.what} ${problem.error.name} ${problem.error.message}`
    if (printed.has(key) || printed.size >= MAX_PRINTED) {
      leftOut += 1
      return
    }
    if (printed.size === 0) keepNothingAlive(setTimeout(closeWindow, everyMs))
    printed.add(key)
    print(describe(who, problem))
  }
}

function describe(who: string, { what, error, objectId }: Problem): string {
  const object = objectId === undefined ? '' : `, object ${objectId}`
  // Where it was thrown helps only with what the author of the agent has written.
  const text = what === 'work' && error.stack ? error.stack : error.message
  return `${who}${object}: ${what} failed: ${text}`.slice(0, MAX_CHARACTERS)
}

/** A browser's timer is a number, and keeps nothing alive anyway. */
function keepNothingAlive(timer: NodeJS.Timeout | number): void {
  if (typeof timer === 'object') timer.unref()
}
