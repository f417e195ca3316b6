import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { type ApplyOptions, applyFiles, withFileOptions } from '../manifests/apply-documents.ts'
import { withValueOptions } from '../manifests/given-values.ts'
import { withPruneOptions } from '../manifests/prune.ts'
import { type SessionOptions, withSession } from '../session.ts'

/** `phaseline apply -f FILE`: creates or updates what the documents describe, whatever their kinds are. */
export function addApply(command: Command, cli: Cli): void {
  withPruneOptions(withValueOptions(withFileOptions(command)))
    .option('--wait', 'follow each tree until it is finished')
    .option('--dry-run', 'show what would happen, in order, and do nothing')
    .option('--no-reconcile', 'write the spec, but start no job')
    .option('-y, --yes', 'do not ask before --prune deletes')
    .action(async (options: SessionOptions & ApplyOptions) => {
      if (options.wait && !options.reconcile) command.error('error: --wait needs a job to wait for')
      cli.exitCode = await withSession(cli.io, options, async (session) =>
        applyFiles(session, await cli.documentKinds(), options),
      )
    })
}
