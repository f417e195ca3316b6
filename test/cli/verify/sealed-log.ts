import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { verify } from '../../../src/cli/verify/verify.ts'
import type { Machine } from '../../../src/core/machine.ts'
import type { PhaseChangeRecord } from '../../../src/core/ports/phase-change.ts'
import { allMachines } from '../../../src/families/machines.ts'
import { lineOf } from '../../../src/log/line.ts'
import { Frontier } from '../../../src/seal/merkle.ts'
import { type Block, hashOfBlock, type Seal, signSeal } from '../../../src/seal/seal.ts'
import { change } from '../../log/writer.ts'

/** Logs that a server could have written, and what a stranger gets of them. */

export type Random = () => number
export const pick = <T>(random: Random, all: readonly T[]): T => all[Math.floor(random() * all.length)] as T

const uuid = (random: Random): string => {
  const digits = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join('')
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

interface Walker {
  readonly objectId: string
  readonly rootId: string
  readonly machine: Machine
  readonly secondary: Machine | undefined
  phase: PhaseChangeRecord['from']
  upgrade: PhaseChangeRecord['from']
  revision: number
}

/** Objects of all kinds that walk through their machines, with requests and refusals in between. */
export function randomLog(random: Random, n: number): readonly PhaseChangeRecord[] {
  const primary = allMachines.filter(({ column }) => column === null)
  const walkers: Walker[] = []
  const records: PhaseChangeRecord[] = []
  const add = ({ machine, ...walker }: Walker, patch: Partial<PhaseChangeRecord>) => {
    const sequence = records.length + 1
    const at = new Date(Date.UTC(2026, 10, 30) + sequence * 1_000)
    const { objectId, rootId } = walker
    const common = { objectId, kind: machine.kinds[0] as never, machine: machine.name, name: `o-${sequence}`, at }
    records.push({ ...change(rootId, { ...common, ...patch }), sequence, batchId: String(sequence), idx: 0 })
  }
  while (records.length < n) {
    const walker = walkers.length > 0 && random() < 0.9 ? pick(random, walkers) : null
    if (!walker) {
      const machine = pick(random, primary)
      const secondary = allMachines.find(
        (one) => one.column !== null && one.kinds.some((kind) => machine.kinds.includes(kind)),
      )
      const made: Walker = {
        ...{ objectId: uuid(random), rootId: uuid(random), machine, secondary, phase: machine.initial },
        ...{ upgrade: secondary?.initial ?? null, revision: 1 },
      }
      walkers.push(made)
      add(made, { from: null, to: machine.initial, actor: 'USER', by: 'ada', reason: 'created', revision: 1 })
      continue
    }
    const { machine, secondary, phase, upgrade } = walker
    const kind = random()
    if (kind < 0.05)
      add(walker, { from: phase, to: phase as never, actor: 'USER', by: 'ada', reason: 'asked', revision: null })
    else if (kind < 0.1)
      add(walker, { from: phase, to: 'GONE', actor: 'USER', rejected: true, reason: 'refused', revision: null })
    else if (secondary && kind < 0.5) {
      const rows = secondary.transitions.filter(({ from }) => from === upgrade)
      if (rows.length === 0) continue
      const { from, actor, to } = pick(random, rows)
      walker.upgrade = to
      walker.revision += 1
      add(walker, { machine: secondary.name, from, actor, to, revision: walker.revision })
    } else {
      const rows = machine.transitions.filter(({ from }) => from === phase)
      if (rows.length === 0) continue
      const { from, actor, to } = pick(random, rows)
      walker.phase = to
      // Writes that are no phase changes make revisions, too.
      walker.revision += 1 + Math.floor(random() * 3)
      add(walker, { from, actor, to, revision: walker.revision, message: random() < 0.3 ? 'ünder “way”' : null })
      if (to === 'GONE') walkers.splice(walkers.indexOf(walker), 1)
    }
  }
  return records
}

export const lineOfRecord = (record: PhaseChangeRecord): string => JSON.stringify(lineOf(record))

export const KEY = generateKeyPairSync('ed25519')
export const NEW_KEY = generateKeyPairSync('ed25519')
export const STRANGER = generateKeyPairSync('ed25519')

/** The part of a log that is sealed next: its blocks with the epoch and the key at that time. */
export interface Stretch {
  readonly through: number
  readonly epoch?: number
  readonly base?: number
  readonly key?: KeyObject
}
const logOf = (epoch: number): string => `00000000-0000-4000-8000-${String(epoch).padStart(12, '0')}`

/** Seals lines, whose first one has this sequence, in blocks of random sizes. */
export function sealLines(
  lines: readonly string[],
  stretches: readonly Stretch[],
  { random, before = [] }: { readonly random: Random; readonly before?: readonly Seal[] },
): readonly Seal[] {
  const tree = new Frontier()
  for (const { leaf } of before) tree.append(Buffer.from(leaf, 'hex'))
  const seals = [...before]
  let first = (before.at(-1)?.last ?? 0) + 1
  for (const { through, epoch = 1, base = 0, key = KEY.privateKey } of stretches) {
    while (first <= through) {
      const last = Math.min(through, first + Math.floor(random() * 30))
      const block: Block = { log: logOf(epoch), epoch, base, first, last }
      tree.append(leafOf(block, lines))
      const head = { leaf: leafOf(block, lines).toString('hex'), root: tree.root(), at: '2026-11-30T00:00:00.000Z' }
      seals.push(signSeal({ size: tree.size, ...block, ...head }, key))
      first = last + 1
    }
  }
  return seals
}

export function leafOf(block: Block, lines: readonly string[]): Buffer {
  const hash = hashOfBlock(block)
  for (const line of lines.slice(block.first - 1, block.last)) hash.update(`${line}\n`)
  return hash.digest()
}

/** The same blocks with other contents: leaves and roots are computed anew, and signed or left as they were. */
export function sealAgain(seals: readonly Seal[], lines: readonly string[], key: KeyObject | null): readonly Seal[] {
  const tree = new Frontier()
  return seals.map((seal) => {
    const leaf = leafOf(seal, lines)
    tree.append(leaf)
    const { signature, key: id, ...head } = { ...seal, leaf: leaf.toString('hex'), root: tree.root() }
    return key ? signSeal(head, key) : { ...head, key: id, signature }
  })
}

/** The files of a stranger. */
export interface Handed {
  readonly lines: readonly string[]
  readonly seals: readonly Seal[]
  readonly heads: readonly Seal[]
  readonly keys: readonly KeyObject[]
  /** An archive, by the names of its files, instead of the lines in one file. */
  readonly archive?: Readonly<Record<string, readonly string[]>>
  readonly options?: { readonly allowLost?: boolean }
}
export interface Verdict {
  readonly code: number
  readonly ok: boolean
  readonly range: { readonly first: number; readonly last: number } | null
  readonly partial: number
  readonly unsealed: number
  readonly problem: { readonly sequence: number; readonly problem: string; readonly what: string } | null
  readonly gaps: readonly { readonly from: number; readonly through: number }[]
  readonly lost: readonly { readonly epoch: number; readonly from: number; readonly through: number }[]
}

/** Verifies by the command, on files in a folder. */
export async function verdictOn({ lines, seals, heads, keys, archive, options }: Handed): Promise<Verdict> {
  const folder = await mkdtemp(join(tmpdir(), 'verify-'))
  const write = async (name: string, all: readonly string[]) => {
    await writeFile(join(folder, name), all.map((line) => `${line}\n`).join(''))
    return join(folder, name)
  }
  try {
    for (const [name, part] of Object.entries(archive ?? {})) await write(name, part)
    const files = archive ? [folder] : [await write('log.ndjson', lines)]
    const given = {
      ...{
        json: true,
        ...options,
        seals: await write(
          'seals',
          seals.map((seal) => JSON.stringify(seal)),
        ),
      },
      heads: [
        await write(
          'heads',
          heads.map((seal) => JSON.stringify(seal)),
        ),
      ],
      key: await Promise.all(
        keys.map((key, i) => write(`key-${i}.pem`, [key.export({ type: 'spki', format: 'pem' }).toString()])),
      ),
    }
    let out = ''
    const sink = { write: (text: string | Uint8Array) => (out += text) }
    const io = { stdout: sink, stderr: sink, stdin: process.stdin, env: {}, signal: new AbortController().signal }
    const code = await verify(files, given, { io, machines: allMachines })
    return { code, ...(JSON.parse(out) as Omit<Verdict, 'code'>) }
  } finally {
    await rm(folder, { recursive: true })
  }
}
