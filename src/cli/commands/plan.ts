import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { loadManifests } from '../manifests/load-manifests.ts'
import { planManifest } from '../manifests/plan-manifest.ts'
import { FILES_HELP, parseFiles } from '../options.ts'
import { applyProjects } from '../projects/apply-all.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../session.ts'
import { type ExitCode, worst } from '../terminal/exit.ts'

interface PlanOptions extends SessionOptions {
  readonly file: readonly string[]
  readonly project?: string
}

/** `phaseline plan -f FILE`: what `apply` would do, in order. */
export function addPlan(program: Command, cli: Cli): void {
  withSessionOptions(program.command('plan'))
    .description('show what apply would do, in order, without doing it')
    .requiredOption('-f, --file <file...>', FILES_HELP, parseFiles)
    .option('--project <name>', 'project of installations that name none (default: "default")')
    .action(async (options: PlanOptions) => {
      cli.exitCode = await withSession(cli.io, options, (session) => plan(session, options))
    })
}

async function plan(session: Session, options: PlanOptions): Promise<ExitCode> {
  const loaded = await loadManifests(session.io, options)
  if (!loaded.ok) return session.refuse(loaded.refusal)
  const codes: ExitCode[] = [await applyProjects(session, loaded.value.projects, { dryRun: true })]
  for (const manifest of loaded.value.installations) codes.push(await planManifest(session, manifest))
  return worst(codes)
}
