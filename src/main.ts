import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { type AgentProcess, startAgentProcess } from './agents/spawn.ts'
import { systemAmbient } from './ambient.ts'
import { type Config, loadConfig } from './config.ts'
import type { Ambient, Log, Signal } from './core/ports.ts'
import { evaluateIn } from './engine/evaluate.ts'
import { kindsOf } from './engine/families.ts'
import { createDriving, type Driving } from './engine/index.ts'
import { deploymentsCommands } from './families/deployments/commands.ts'
import { families } from './families/index.ts'
import { createLogger } from './logger.ts'
import { createSandbox } from './sandbox/index.ts'
import { startEmbeddedPostgres } from './store/embedded/index.ts'
import { migrate } from './store/migrate.ts'
import { type Connection, createPool } from './store/pool.ts'

/** The composition root: the only file that wires everything. */

const PACKAGE = findPackage(import.meta.dirname)
/** Built-in agents get their token from the administrator's, so that every process of an installation has the same. */
const AGENT_TOKEN_PURPOSE = 'phaseline built-in agents'
const POOL_SIZE = 12

export interface App extends AsyncDisposable {
  /** e.g. http://127.0.0.1:4000 */
  readonly origin: string
  /** The administrator's; null when this process was given none. */
  readonly token: string | null
}

export interface AppOptions {
  readonly ambient?: Ambient
  readonly logger?: Logger
  /** Beside those of the configuration. */
  readonly gadgetFolders?: readonly string[]
}
