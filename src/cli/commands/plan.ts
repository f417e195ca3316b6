import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { type FileOptions, previewFiles, withFileOptions } from '../manifests/apply-documents.ts'
import { type PruneOptions, withPruneOptions } from '../manifests/prune.ts'
import { type SessionOptions, withSession } from '../session.ts'

interface PlanOptions extends SessionOptions, FileOptions, PruneOptions {
  readonly onTarget?: boolean
}

/** `phaseline plan -f FILE`: what `apply` would do, in order. */
export function addPlan(program: Command, cli: Cli): void {
  withPruneOptions(withFileOptions(program.command('plan')))
    .description('show what apply would do, in order, without doing it')
    .option('--on-target', 'also ask the agents what would change at the targets, where nothing is changed')
    .action(async ({ onTarget = false, ...options }: PlanOptions) => {
      cli.exitCode = await withSession(cli.io, options, (session) =>
        previewFiles(session, cli, options, { isDiff: false, onTarget }),
      )
    })
}
