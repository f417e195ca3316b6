import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { type FileOptions, previewFiles, withFileOptions } from '../manifests/apply-documents.ts'
import { withValueOptions } from '../manifests/given-values.ts'
import { type PruneOptions, withPruneOptions } from '../manifests/prune.ts'
import { type SessionOptions, withSession } from '../session.ts'

interface PlanOptions extends SessionOptions, FileOptions, PruneOptions {
  readonly onTarget?: boolean
}

/** `phaseline plan -f FILE`: what `apply` would do, in order. */
export function addPlan(command: Command, cli: Cli): void {
  withPruneOptions(withValueOptions(withFileOptions(command)))
    .option('--on-target', 'also ask the agents what would change at the targets, where nothing is changed')
    .action(async ({ onTarget = false, ...options }: PlanOptions) => {
      cli.exitCode = await withSession(cli.io, options, async (session) =>
        previewFiles(session, await cli.documentKinds(), options, { isDiff: false, onTarget }),
      )
    })
}
