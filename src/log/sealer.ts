import type { KeyObject } from 'node:crypto'
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'
import type { PhaseChangeRecord } from '../core/ports/phase-change.ts'
import type { System } from '../core/ports/system.ts'
import type { Logger } from '../logger.ts'
import { every } from '../process/every.ts'
import { Frontier } from '../seal/merkle.ts'
import { type Block, hashOfBlock, parseSeal, type Seal, signSeal } from '../seal/seal.ts'
import type { Client } from '../store/client.ts'
import { text } from '../store/column-types.ts'
import { statement } from '../store/statement.ts'
import * as table from '../store/tables.ts'
import { underAdvisoryLock } from '../store/under-advisory-lock.ts'
import type { Writes } from '../store/write-watch.ts'
import { openLog } from './identity.ts'
import { lineOf } from './line.ts'
import { readPage } from './page.ts'
import { readSeals } from './seals.ts'

/**
 * Milliseconds. A change waits no longer for its seal, unless the log grows faster than it is sealed. In a year they are a million seals at most, whose
 * signatures a verifier checks in a minute.
 */
const EVERY_MS = 30_000
/** Changes of a block, at most: their lines take some ten milliseconds. */
const BLOCK = 2_000
/** Lines that are hashed in one turn of the event loop, in about a millisecond. */
const LINES = 200
/** A backlog rests so many times as long as it takes: with Postgres it costs 3 % of two processors, which is all that the work beside it may lose. */
const REST = 16
/** Milliseconds between two seals that the process's own log has. */
const TOLD_MS = 60_000
/** Seals that are read at a time when the process has begun. */
const PAGE = 10_000

const EVERYTHING = { projects: null, includeRejected: true } as const

const LAST_SEAL = statement({
  text: 'select line from log_seal order by size desc limit 1',
  row: { line: text },
})
const INSERT_SEAL = statement({
  text: 'insert into log_seal (size, last_seq, line) values ($1, $2, $3)',
  params: [table.logSeal.size, table.logSeal.lastSeq, table.logSeal.line],
})

interface SealerParts {
  readonly pool: Pool
  readonly system: Pick<System, 'now'>
  readonly logger: Logger
  readonly key: KeyObject
  readonly writes?: Pick<Writes, 'isQuietSince' | 'onWrite'>
}

/** Seals numbered changes behind everything else. Each engine with a key has one; one at a time works. */
export class Sealer implements AsyncDisposable {
  readonly #parts: SealerParts
  readonly #stopTimer: () => void
  readonly #stop = new AbortController()
  /** The tree up to the last seal that this process has seen. */
  #frontier = new Frontier()
  #running: Promise<void> | null = null
  /** When the last search that found nothing began, by `performance.now()`. */
  #emptyAt = Number.NEGATIVE_INFINITY
  #toldAt = Number.NEGATIVE_INFINITY

  constructor(parts: SealerParts) {
    this.#parts = parts
    this.#stopTimer = every(EVERY_MS, () => {
      if (!parts.writes?.isQuietSince(this.#emptyAt)) this.#sealInBackground()
    })
    parts.writes?.onWrite((isJump) => {
      if (isJump && !this.#stop.signal.aborted) this.#sealInBackground()
    })
  }

  /** Resolves when every change that was numbered before the call is sealed, or another process seals. */
  seal(): Promise<void> {
    this.#running ??= this.#sealAll().finally(() => {
      this.#running = null
    })
    return this.#running
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopTimer()
    this.#stop.abort()
    await this.#running?.catch(() => undefined)
  }

  #sealInBackground(): void {
    this.seal().catch((error: unknown) => {
      this.#parts.logger.warn({ err: error }, 'Sealing the log failed; it is tried again within seconds.')
    })
  }

  async #sealAll(): Promise<void> {
    const { pool } = this.#parts
    for (;;) {
      const begun = performance.now()
      const sealed = await underAdvisoryLock(pool, 'sealLog', (client) => this.#sealBlock(client))
      if (sealed === undefined) this.#emptyAt = begun
      if (!sealed) return
      this.#tell(sealed.seal)
      if (!sealed.isFull) return
      await delay((performance.now() - begun) * REST, undefined, { signal: this.#stop.signal }).catch(() => undefined)
      if (this.#stop.signal.aborted) return
    }
  }

  /** Undefined: nothing waits. */
  async #sealBlock(client: PoolClient) {
    const { logId: log, epoch, epochBase: base } = await openLog(client)
    const end = await this.#end(client)
    const { changes } = await readPage(client, EVERYTHING, {
      after: end?.last ?? 0,
      limit: BLOCK,
      direction: 'forward',
    })
    const [first, last] = [changes[0], changes.at(-1)]
    if (!first || !last) return undefined
    const block = { log, epoch, base, first: first.sequence, last: last.sequence }
    const leaf = await leafOf(block, changes)
    this.#frontier.append(leaf)
    const at = this.#parts.system.now().toISOString()
    const head = { size: this.#frontier.size, ...block, leaf: leaf.toString('hex'), root: this.#frontier.root(), at }
    const seal = signSeal(head, this.#parts.key)
    await INSERT_SEAL.query(client, [seal.size, seal.last, JSON.stringify(seal)])
    return { seal, isFull: changes.length === BLOCK }
  }

  /** The last seal. Afterwards the frontier is that of all seals. */
  async #end(client: Client): Promise<Seal | null> {
    const line = (await LAST_SEAL.query(client, [])).rows[0]?.line
    const end = line === undefined ? null : parseSeal(line)
    const isSame = () => this.#frontier.size === (end?.size ?? 0) && (!end || this.#frontier.root() === end.root)
    // Another process has sealed meanwhile; or the database is another one, and all begins anew.
    if (!isSame()) await this.#read(client)
    if (!isSame()) {
      this.#frontier = new Frontier()
      await this.#read(client)
    }
    if (!isSame())
      throw new Error('The seals of the log do not fit together: their table was written by something else.')
    return end
  }
  async #read(client: Client): Promise<void> {
    for (let lines = await readSeals(client, this.#frontier.size, PAGE); lines.length > 0; ) {
      for (const line of lines) this.#frontier.append(Buffer.from(parseSeal(line)?.leaf ?? '', 'hex'))
      lines = await readSeals(client, this.#frontier.size, PAGE)
    }
  }

  #tell(seal: Seal): void {
    const now = performance.now()
    if (now - this.#toldAt < TOLD_MS) return
    this.#toldAt = now
    this.#parts.logger.info({ seal }, 'The log is sealed')
  }
}

async function leafOf(block: Block, changes: readonly PhaseChangeRecord[]): Promise<Buffer> {
  const hash = hashOfBlock(block)
  for (let from = 0; from < changes.length; from += LINES) {
    if (from > 0) await turn()
    const lines = changes.slice(from, from + LINES).map((change) => `${JSON.stringify(lineOf(change))}\n`)
    hash.update(lines.join(''))
  }
  return hash.digest()
}
