import { open, stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { invalid } from '../../client-model/index.ts'
import { FolderInUse, lockFolder } from '../../process/folder-lock.ts'
import { parseSeal, type Seal } from '../../seal/seal.ts'
import type { Session } from '../session.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { printText } from '../terminal/io.ts'
import { LineTooLong, linesOf } from './lines.ts'
import { readKey } from './verify.ts'
import { keysOf, SealChain, type SealProblem, signatureProblem } from './verify-seals.ts'

export interface KeepOptions {
  readonly to?: string
  readonly key?: readonly string[]
}

/** Prints the seals of the server; or appends those that a file lacks, once each follows from the last one in it. */
export async function keepSeals(session: Session, options: KeepOptions): Promise<ExitCode> {
  const { to } = options
  if (to === undefined) return await keepLocked(session, options)
  const inUse = (pid: number): string => `The process ${pid} writes to ${to}. Wait until it has ended.`
  try {
    await using held = new AsyncDisposableStack()
    held.use(await lockFolder({ folder: dirname(to), prefix: lockOf(to), inUse }))
    return await keepLocked(session, options)
  } catch (error) {
    if (!(error instanceof FolderInUse)) throw error
    return session.refuse({ code: 'FILE_IN_USE', message: error.message })
  }
}
/** Begins the names of the files that lock a file. */
export const lockOf = (path: string): string => `.${basename(path)}.lock.`

async function keepLocked(session: Session, { to, key = [] }: KeepOptions): Promise<ExitCode> {
  const { client, io } = session
  const keys = await Promise.all(key.map(readKey)).then(keysOf, (error: Error) => error.message)
  if (typeof keys === 'string') return session.refuse(invalid(keys))
  const chain = new SealChain()
  const kept = to === undefined ? 0 : await readKept(to, chain)
  if (typeof kept !== 'number') return report(session, to ?? '', kept)
  const { end } = chain
  // The root of the last one has all before it. Each was verified when it came.
  const unsigned = end && signatureProblem(end, keys)
  if (unsigned) return report(session, to ?? '', unsigned)
  // The last one that is kept comes again: another one shows that this is not the history that was published.
  let after = Math.max(0, (end?.size ?? 0) - 1)
  await using file = to === undefined ? null : await open(to, 'a')
  await file?.truncate(kept)
  for (let isFirst = true; ; isFirst = false) {
    const lines = await client.readSeals(after, { signal: io.signal })
    if (isFirst && end && lines[0] !== JSON.stringify(end)) return report(session, to ?? '', replaced(end, lines[0]))
    const news = isFirst && end ? lines.slice(1) : lines
    for (const line of news) {
      const seal = parseSeal(line)
      const problem = seal ? (chain.add(seal) ?? signatureProblem(seal, keys)) : notSeal(chain.end)
      if (problem) return report(session, session.connection.url, problem)
    }
    const text = news.map((line) => `${line}\n`).join('')
    if (file) await file.appendFile(text)
    else printText(io.stdout, text)
    if (lines.length === 0 || news.length === 0) break
    after = chain.end?.size ?? 0
  }
  await file?.sync()
  if (to === undefined) return EXIT.ok
  const added = (chain.end?.size ?? 0) - (end?.size ?? 0)
  const through = chain.end?.last ?? 0
  session.emit({ ok: true, added, through })
  session.say(`${to} has ${added} seals more, and reaches ${through}.`)
  return EXIT.ok
}

/** Adds the seals of a file; its bytes in whole lines, since the last one may have been cut by the end of a process. */
async function readKept(path: string, chain: SealChain): Promise<number | SealProblem> {
  const { size = 0 } = (await stat(path).catch(() => null)) ?? {}
  let bytes = 0
  try {
    for (const line of size > 0 ? linesOf(path) : []) {
      const end = bytes + Buffer.byteLength(line) + 1
      if (end > size) break
      bytes = end
      const seal = parseSeal(line)
      const problem = seal ? chain.add(seal) : notSeal(chain.end)
      if (problem) return problem
    }
  } catch (error) {
    if (error instanceof LineTooLong) return notSeal(chain.end)
    throw error
  }
  return bytes
}

const notSeal = (end: Seal | null): SealProblem => ({
  ...{ sequence: (end?.last ?? 0) + 1, problem: 'SEAL_CHANGED' },
  what: `the line after the seal ${end?.size ?? 0} is none`,
})

function replaced(end: Seal, line: string | undefined): SealProblem {
  const epoch = line === undefined ? undefined : parseSeal(line)?.epoch
  const what =
    epoch !== undefined && epoch > end.epoch
      ? `the server was restored or failed over (epoch ${epoch}), and has lost ${end.first} to ${end.last}`
      : `the server does not have the seal ${end.size} any more`
  return { sequence: end.first, problem: 'REWRITTEN', what }
}

function report(session: Session, where: string, problem: SealProblem): ExitCode {
  session.emit({ ok: false, where, problem })
  session.say(
    `${where}, at ${problem.sequence}: ${problem.what}. Nothing more is kept; keep this file, and begin another one.`,
  )
  return EXIT.failed
}
