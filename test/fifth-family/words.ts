import type { FamilyWords } from '../../src/core/vocabulary.ts'

/** Words that the product does not have. The compiler learns them by declaration merging. */
declare module '../../src/core/vocabulary.ts' {
  interface KindNames {
    BACKUP: true
  }
  interface PhaseNames {
    COPYING: true
    KEPT: true
  }
  interface ActorNames {
    COPIER: true
  }
  interface ActionNames {
    COPY: true
  }
}

export const words: FamilyWords = {
  kinds: { BACKUP: 'A copy of a volume, kept until it is deleted.' },
  phases: {
    COPYING: 'A copier copies the volume of a backup.',
    KEPT: 'The copy of a backup is complete. Final.',
    // A word of the product, with a meaning of its own here.
    ABORTING: 'Backup: it is cancelled, and its copier is asked to stop.',
  },
  actors: { COPIER: 'An agent that copies volumes for backups.' },
  actions: { COPY: 'For copiers: copy the volume.' },
}
