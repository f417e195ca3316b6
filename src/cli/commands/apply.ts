import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { type Applied, applyManifest } from '../manifests/apply-manifest.ts'
import { loadManifests } from '../manifests/load-manifests.ts'
import { planManifest } from '../manifests/plan-manifest.ts'
import { atSource } from '../manifests/source.ts'
import { follow } from '../objects/follow.ts'
import { FILES_HELP, parseFiles } from '../options.ts'
import { applyProjects } from '../projects/apply-all.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../session.ts'
import { type ExitCode, worst } from '../terminal/exit.ts'

interface ApplyOptions extends SessionOptions {
  readonly file: readonly string[]
  readonly project?: string
  readonly wait?: boolean
  readonly dryRun?: boolean
  readonly reconcile: boolean
}

/** `phaseline apply -f FILE`: creates or updates projects, then installations. */
export function addApply(program: Command, cli: Cli): void {
  withSessionOptions(program.command('apply'))
    .description('create or update installations, and projects, from YAML or JSON documents')
    .requiredOption('-f, --file <file...>', FILES_HELP, parseFiles)
    .option('--project <name>', 'project of installations that name none (default: "default")')
    .option('--wait', 'follow each tree until it is finished')
    .option('--dry-run', 'show what would happen, in order, and do nothing')
    .option('--no-reconcile', 'write the spec, but start no job')
    .action(async (options: ApplyOptions, command: Command) => {
      if (options.wait && !options.reconcile) command.error('error: --wait needs a job to wait for')
      cli.exitCode = await withSession(cli.io, options, (session) => apply(session, options))
    })
}

async function apply(session: Session, options: ApplyOptions): Promise<ExitCode> {
  const loaded = await loadManifests(session.io, options)
  if (!loaded.ok) return session.refuse(loaded.refusal)
  const codes: ExitCode[] = [await applyProjects(session, loaded.value.projects, options)]
  const applied: Applied[] = []
  for (const manifest of loaded.value.installations) {
    if (options.dryRun) {
      codes.push(await planManifest(session, manifest))
      continue
    }
    const outcome = await applyManifest(session, manifest, options.reconcile)
    if (!outcome.ok) {
      const refusal = atSource(outcome.refusal, manifest.source)
      codes.push(session.refuse({ ...refusal, message: `${manifest.project}/${manifest.name}: ${refusal.message}` }))
      continue
    }
    applied.push(outcome.value)
    const { action, generation } = outcome.value
    const again = action === 'unchanged' && options.reconcile ? ', runs again' : ''
    session.say(`${manifest.name} ${action} (generation ${generation})${again}`)
    session.emit(outcome.value)
  }
  if (options.wait) {
    for (const { id } of applied) codes.push(await follow(session, id, ({ outcome }) => outcome === 'succeeded'))
  }
  return worst(codes)
}
