import type { Pool } from 'pg'
import packageJson from '../../package.json' with { type: 'json' }
import type { Config } from '../config.ts'
import type { Logger } from '../logger.ts'

interface Started {
  readonly config: Pick<Config, 'databaseUrl' | 'roles'>
  readonly pool: Pool
  /** What the program knows of the schema. */
  readonly migrations: readonly string[]
  readonly epoch: number
  /** Where it listens; null: it does not. */
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

/** Host and port, and nothing else of a URL that has a password. */
function hostOf(url: string | undefined): string {
  if (url === undefined) return 'embedded'
  const { host, searchParams } = new URL(url)
  return searchParams.get('host') ?? host
}
