import { createPublicKey, type KeyObject } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { problemOfSurroundings } from '../../core/surroundings.ts'
import { isSealKey, parseSeal, type Seal } from '../../seal/seal.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { type Io, printJson, printLine } from '../terminal/io.ts'
import { LineTooLong, linesOf } from './lines.ts'
import { partsOf, verifyParts } from './parts.ts'
import { PublishedGuard, type PublishedMachine, parseMachines } from './published-guard.ts'
import type { LogProblem } from './segment.ts'
import { compareHeads, keysOf, type Lost, type SealProblem, verifySeals } from './verify-seals.ts'

export interface VerifyOptions {
  readonly seals?: string
  readonly heads?: readonly string[]
  readonly key?: readonly string[]
  readonly machines?: readonly string[]
  readonly allowLost?: boolean
  readonly json?: boolean
}
interface VerifyParts {
  readonly io: Io
  /** The tables of this version. */
  readonly machines: readonly PublishedMachine[]
}

const MEANS: Readonly<Record<(LogProblem | SealProblem)['problem'], string>> = {
  UNREADABLE: 'The file was changed or is damaged.',
  MISSING: 'A change was removed, put in or moved, or the export is older than its seals.',
  CHANGED: 'A change was edited, put in, moved or removed after it was sealed.',
  ILLEGAL: 'No release with these tables writes such a change.',
  INTERRUPTED: 'A change of the object was removed, edited or put in.',
  SEAL_MISSING: 'A seal was removed, put in or moved.',
  SEAL_CHANGED: 'A seal was edited.',
  UNKNOWN_KEY: 'Somebody else has sealed the log, or its key was replaced: give each public key.',
  NOT_SIGNED: 'Somebody without the key has made or edited the seal.',
  REWRITTEN: 'The history was written again after this head was published.',
  CUT: 'The end of the log was removed after this head was published, or the seals are older than it.',
  LOST: 'A restore or a failover has lost changes that were published: --allow-lost accepts that.',
}

/** Verifies without a server. Failed: the log is not what was sealed, or not legal. */
export async function verify(
  files: readonly string[],
  options: VerifyOptions,
  { io, machines }: VerifyParts,
): Promise<ExitCode> {
  const { json = false } = options
  const read = await readAll(files, options).catch((error: Error) => ({
    unusable: problemOfSurroundings(error) ?? error.message,
  }))
  if ('unusable' in read) {
    if (json) printJson(io.stdout, { error: { code: 'INVALID_INPUT', message: read.unusable } })
    else printLine(io.stderr, read.unusable)
    return EXIT.usage
  }
  const { parts, seals, heads, keys, tables } = read
  const compared = verifySeals(seals, keys) ?? compareHeads(heads, seals, keys)
  const lost = 'problem' in compared ? [] : compared
  const log = await verifyParts(parts, { seals, machines: tables ?? machines, signal: io.signal })
  const problem = ('problem' in compared ? compared : null) ?? log.found ?? (options.allowLost ? null : lossOf(lost))
  const { found: _, ...facts } = log
  const end = seals.at(-1)
  const sealed = end ? { through: end.last, size: end.size, root: end.root, isSigned: keys.size > 0 } : null
  const epochs = epochsOf(seals)
  if (json) {
    const means = problem && { ...problem, means: MEANS[problem.problem] }
    printJson(io.stdout, { ok: problem === null, ...facts, sealed, epochs, lost, problem: means })
  } else if (problem) {
    printLine(io.stdout, `At ${problem.sequence}: ${problem.what}. ${MEANS[problem.problem]}`)
  } else for (const line of describe(log, { seals, heads, lost, isSigned: keys.size > 0 })) printLine(io.stdout, line)
  return problem ? EXIT.failed : EXIT.ok
}

const lossOf = ([first]: readonly Lost[]): SealProblem | null =>
  first
    ? {
        ...{ sequence: first.from, problem: 'LOST' },
        what: `${first.from} to ${first.through} of epoch ${first.epoch} were published, and are not in this log`,
      }
    : null

/** Each epoch with the first block that was sealed in it, and the sequence up to which all histories agree. */
const epochsOf = (seals: readonly Seal[]) =>
  seals
    .filter(({ epoch }, i) => epoch !== seals[i - 1]?.epoch)
    .map(({ epoch, log, base, first }) => ({ epoch, log, base, sealedFrom: first }))

interface Described {
  readonly seals: readonly Seal[]
  readonly heads: readonly Seal[]
  readonly lost: readonly Lost[]
  readonly isSigned: boolean
}
function describe(
  { range, count, partial, unsealed, gaps }: Awaited<ReturnType<typeof verifyParts>>,
  { seals, heads, lost, isSigned }: Described,
): string[] {
  const end = seals.at(-1)
  const first = range?.first ?? 0
  return [
    range
      ? `The changes ${first} to ${range.last} are complete, in order and legal (${count}).`
      : 'There are no changes.',
    ...(first > 1 ? [`These files lack the changes before ${first}.`] : []),
    ...gaps.map(
      ({ from, through }) => `${from} to ${through} were pruned before they were archived, as an unsigned record says.`,
    ),
    end
      ? `They are as they were sealed, up to ${end.last} (seal ${end.size}, root ${end.root}).`
      : 'Nothing shows who has written them: --seals names their seals.',
    ...(partial > 0 ? [`The block of the first ${partial} begins before them, so no seal vouches for these.`] : []),
    ...(end && unsealed > 0 ? [`No seal vouches for ${unsealed} others.`] : []),
    ...(end && !isSigned ? ['Signatures were not verified: --key names the public key.'] : []),
    ...(heads.length > 0 && lost.length === 0 ? [`All ${heads.length} heads that were kept are in this history.`] : []),
    ...lost.map(({ epoch, from, through }) => `${from} to ${through} of epoch ${epoch} were published and are lost.`),
    ...epochsOf(seals)
      .slice(1)
      .map(
        ({ epoch, base, sealedFrom }) =>
          `Epoch ${epoch} was sealed first at ${sealedFrom}; all histories agree up to ${base}.`,
      ),
  ]
}

async function readAll(files: readonly string[], { seals, heads = [], key = [], machines }: VerifyOptions) {
  const keys = keysOf(await Promise.all(key.map(readKey)))
  const tables = machines && (await Promise.all(machines.map(readMachines))).flat()
  // One file alone may be fine where all of them together have too many words.
  if (tables) new PublishedGuard(tables)
  return {
    ...{ parts: await partsOf(files), keys, tables },
    seals: seals === undefined ? [] : readSeals(seals),
    heads: heads.flatMap(readSeals),
  }
}

export async function readKey(path: string): Promise<KeyObject> {
  const text = await readFile(path)
  try {
    const key = createPublicKey(text)
    if (isSealKey(key)) return key
  } catch {}
  throw new Error(`${path} has no public Ed25519 key in PEM.`)
}

async function readMachines(path: string): Promise<readonly PublishedMachine[]> {
  const machines = parseMachines(await readFile(path, 'utf8'))
  if (machines) return machines
  throw new Error(`${path} has no tables: write them by \`phaseline machines --json\`.`)
}

/** @throws if a line is no seal */
function readSeals(path: string): readonly Seal[] {
  const seals: Seal[] = []
  try {
    for (const line of linesOf(path)) {
      const seal = parseSeal(line)
      if (!seal) throw new Error(`${path} has no seal in line ${seals.length + 1}.`)
      seals.push(seal)
    }
  } catch (error) {
    throw error instanceof LineTooLong ? new Error(`${path}: ${error.message}.`) : error
  }
  return seals
}
