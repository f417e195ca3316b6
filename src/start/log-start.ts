import type { Pool } from 'pg'
import packageJson from '../../package.json' with { type: 'json' }
import type { Config } from '../config.ts'
import { nameOf, readDatabaseUrl } from '../core/database-url.ts'
import type { Logger } from '../logger.ts'

interface Started {
  readonly config: Pick<Config, 'databaseUrl' | 'roles'>
  readonly pool: Pool
  /** The migrations that the program has. */
  readonly migrations: readonly string[]
  readonly epoch: number
  /** The address it listens on; null: it does not listen. */
  readonly gateway: string | null
  readonly admin: string | null
  readonly logger: Logger
}

/** One line that says what has started, and on what. */
export async function logStart({ config, pool, migrations, epoch, gateway, admin, logger }: Started): Promise<void> {
  const { rows } = await pool.query<{ name: string; schema: string | null; oldest: string | null }>(
    `select current_database() as name, (
        select max(migration_name::text collate "C") from "_prisma_migrations" where finished_at is not null and rolled_back_at is null
      ) as schema, (select oldest from schema_range) as oldest`,
  )
  const [found] = rows
  logger.info(
    {
      version: packageJson.version,
      roles: [...config.roles],
      database: { host: hostOf(config.databaseUrl?.reveal()), name: found?.name },
      schema: found?.schema,
      schemaRange: { oldestOfPrograms: found?.oldest, ofThisProgram: migrations.at(-1) },
      ...{ epoch, gateway, admin },
    },
    'Phaseline has started',
  )
}

/** Hosts and ports, and nothing else of a URL that has a password. */
function hostOf(text: string | undefined): string {
  if (text === undefined) return 'embedded'
  const read = readDatabaseUrl(text)
  if (!read.ok) return 'unknown'
  const { places, driverUrl } = read.url
  if (places.length > 0) return places.map(nameOf).join(', ')
  const { host, searchParams } = new URL(driverUrl)
  return searchParams.get('host') ?? host
}
