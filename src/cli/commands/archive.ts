import { join } from 'node:path'
import type { Command } from 'commander'
import { invalid } from '../../client-model/index.ts'
import { type Archived, archiveStream } from '../archive/archive.ts'
import { auditStream, logStream } from '../archive/streams.ts'
import type { Cli } from '../cli.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../session.ts'
import { EXIT, type ExitCode, worst } from '../terminal/exit.ts'

interface ArchiveOptions extends SessionOptions {
  readonly streams: readonly string[]
  readonly parquet?: boolean
}

/** `phaseline archive FOLDER`: writes what has come since the last run. */
export function addArchive(command: Command, cli: Cli): void {
  withSessionOptions(command)
    .argument('<folder>', 'each stream has a folder in it')
    .option('--streams <names>', 'log, audit, runs, or several of them', (text) => text.split(','), ['log'])
    .option('--parquet', 'files of Parquet instead of lines of JSON')
    .action(async (folder: string, options: ArchiveOptions) => {
      const all = [logStream, auditStream, ...(await cli.archivedStreams())]
      cli.exitCode = await withSession(cli.io, options, async (session) => {
        const unknown = options.streams.find((wanted) => !all.some(({ name }) => name === wanted))
        if (unknown !== undefined) {
          const known = all.map(({ name }) => name).join(', ')
          return session.refuse(invalid(`There is no stream ${unknown}. There are: ${known}.`))
        }
        const codes: ExitCode[] = []
        for (const stream of all.filter(({ name }) => options.streams.includes(name))) {
          const target = { folder: join(folder, stream.name), format: options.parquet ? 'parquet' : 'ndjson' } as const
          const archived = await archiveStream(session, stream, target)
          codes.push(archived.ok ? tell(session, archived.value) : session.refuse(archived.refusal))
        }
        return worst(codes)
      })
    })
}

function tell(session: Session, archived: Archived): ExitCode {
  const { stream, lines, files, gaps } = archived
  session.emit(archived)
  session.note(...gaps.map(({ message }) => message))
  session.say(`${stream}: ${lines === 0 ? 'nothing new' : `${lines} lines in ${files.length - gaps.length} files`}`)
  return EXIT.ok
}
