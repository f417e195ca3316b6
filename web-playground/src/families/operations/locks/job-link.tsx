import { Link } from 'wouter'
import { treeHref } from '../../../ui/links.ts'
import type { LockObject } from '../model/lock-queues.ts'

/** A job, and its task. */
export function JobLink({ object }: { readonly object: LockObject | null }) {
  if (!object) return <span className="quiet">a job that is gone</span>
  const { id, name, root, project } = object
  return (
    <>
      <Link href={treeHref(root.id, id)}>{name}</Link>{' '}
      <span className="quiet">
        of{' '}
        <Link href={treeHref(root.id)}>
          {project.name}/{root.name}
        </Link>
      </span>
    </>
  )
}
