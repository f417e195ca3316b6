import { addAbortSignal, Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { EXIT, type ExitCode } from './exit.ts'
import { type Io, printLine, printPart } from './io.ts'

/** The typed line; not ok when the user gave up. */
export type Typed = { readonly ok: true; readonly text: string; readonly rest: boolean } | { readonly ok: false }

type Terminal = Pick<Io, 'stdin' | 'stderr' | 'signal'>

const ENTER = /[\r\n]/
const INTERRUPT = '\u0003'
const END = '\u0004'
const BACKSPACES = ['\b', '\u007f']
const KILL_LINE = '\u0015'

/**
 * Reads one line from a terminal without showing it. `rest` is true when more than a line arrived at once, as by
 * pasting. The prompt goes to standard error, so that standard output has only the command's own output.
 * @throws the signal's reason when the program is ended
 */
export async function readHidden({ stdin, stderr, signal }: Terminal, prompt: string): Promise<Typed> {
  printPart(stderr, prompt)
  endWith(signal, stdin)
  stdin.setRawMode?.(true)
  try {
    return await editLine(stdin)
  } finally {
    stdin.setRawMode?.(false)
    printLine(stderr, '')
  }
}

async function editLine(stdin: Io['stdin']): Promise<Typed> {
  const decoder = new StringDecoder('utf8')
  let line: string[] = []
  for await (const chunk of stdin) {
    const keys = [...decoder.write(Buffer.from(chunk))]
    for (const [index, key] of keys.entries()) {
      if (key === INTERRUPT) return { ok: false }
      if (ENTER.test(key) || key === END) {
        const rest = keys.slice(index + 1).some((more) => !ENTER.test(more))
        return { ok: true, text: line.join(''), rest }
      }
      if (BACKSPACES.includes(key)) line = line.slice(0, -1)
      else if (key === KILL_LINE) line = []
      else line.push(key)
    }
  }
  return { ok: true, text: line.join(''), rest: false }
}

/**
 * True if the user answers yes. Every other input, its end included, means no.
 * @throws the signal's reason when the user interrupts
 */
export async function confirm({ stdin, stderr, signal }: Terminal, question: string): Promise<boolean> {
  printPart(stderr, `${question} [y/N] `)
  const answer = await readLine(stdin instanceof Readable ? stdin : Readable.from(stdin), signal)
  return /^y(es)?$/i.test(answer.trim())
}

const LINE_END = /\r\n|[\r\n]/

/** The next line. The text behind it, and the input itself, stay for the next question. */
async function readLine(stdin: Readable, signal: AbortSignal): Promise<string> {
  const decoder = new StringDecoder('utf8')
  // A read of a terminal waits for the user: an interrupt must not wait for that.
  const stop = (): void => void stdin.destroy(signal.reason)
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop, { once: true })
  let text = ''
  try {
    for await (const chunk of stdin.iterator({ destroyOnReturn: false })) {
      text += decoder.write(Buffer.from(chunk))
      const end = LINE_END.exec(text)
      if (!end) continue
      const rest = text.slice(end.index + end[0].length)
      if (rest !== '') stdin.unshift(Buffer.from(rest))
      return text.slice(0, end.index)
    }
    return text
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** The options of a command that destroys: `withYes`. */
export interface Confirmable {
  readonly yes?: boolean | undefined
}

/** Outputs that have the announcement, so that a command on several objects prints it once. */
const announced = new WeakSet<Io['stderr']>()

/**
 * True if what destroys is confirmed: by `--yes`, or by the answer at a terminal. Without a terminal this version continues, and
 * announces that the next one refuses.
 */
export async function isConfirmed(
  io: Terminal,
  { yes }: Confirmable,
  question: string | (() => Promise<string>),
): Promise<boolean> {
  if (yes) return true
  if (io.stdin.isTTY === true) return await confirm(io, typeof question === 'string' ? question : await question())
  if (!announced.has(io.stderr))
    printLine(io.stderr, 'A next version will need --yes here, since there is no terminal to ask.')
  announced.add(io.stderr)
  return true
}

/** Runs what destroys once it is confirmed. */
export const onceConfirmed = async (
  io: Terminal,
  options: Confirmable,
  question: string,
  act: () => Promise<ExitCode>,
): Promise<ExitCode> => ((await isConfirmed(io, options, question)) ? await act() : EXIT.interrupted)

/** A read of a terminal waits for the user: an interrupt must not wait for that. */
function endWith(signal: AbortSignal, stdin: Io['stdin']): void {
  if (stdin instanceof Readable) addAbortSignal(signal, stdin)
}
