import type { FamilyWords } from '../../core/vocabulary.ts'

export const words: FamilyWords = {
  kinds: {
    INSTALLATION: 'A unit of deployment with imports, exports, nested installations and deploy items.',
    EXECUTION: 'The part of an installation that runs its deploy items in the order of their dependencies.',
    DEPLOY_ITEM: 'One thing that a deployer installs and uninstalls.',
  },
  actors: { DEPLOYER: 'An agent that installs and uninstalls deploy items.' },
  phases: {
    PENDING_DEPENDENCIES:
      'An installation waits for a predecessor or an import and continues by itself; `blockedBy` names each one.',
    INIT: 'Installation: imports are read and validated. Execution: deploy items are written from the spec. Deploy item: it is offered to deployers.',
    CLEANUP_ORPHANED: 'An installation deletes the children that its spec no longer has.',
    OBJECTS_CREATED: 'The children of an installation are written and get the job next.',
    PROGRESSING: 'Installation, execution: the children run. Deploy item: a deployer has claimed it.',
    COMPLETING: 'All children have succeeded; exports are built and stored.',
    INIT_DELETE:
      'The deletion has begun. An installation waits until no sibling imports from it; a deploy item is offered to deployers.',
    TRIGGER_DELETE: 'An installation hands the job of the deletion to its children.',
    DELETING: 'Installation, execution: the children are deleted. Deploy item: a deployer uninstalls it.',
    DELETE_FAILED: 'The deletion ended without success; `error` says why. It can only be repeated. Final.',
  },
  actions: {
    RECONCILE: 'For deployers: install the deploy item, or bring it up to date.',
    DELETE: 'For deployers: uninstall the deploy item.',
    DRY_RUN:
      'For deployers: say what `dryRunOf` would change at the target, and change nothing. Only a claim with `dryRuns` gets it.',
  },
}
