import { whoOf } from '../../model/moment.ts'
import { Since } from '../../ui/phase.tsx'

/** The creation of a tree, where a time before it is shown. */
export const Created = ({ at, ...mover }: { readonly at: string } & Parameters<typeof whoOf>[0]) => (
  <>
    It was created <Since at={at} /> ago by {whoOf(mover)}.
  </>
)
