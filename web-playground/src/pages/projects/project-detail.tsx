import { Suspense, useState } from 'react'
import { Link } from 'wouter'
import { AskedStore } from '../../data/asked-store.ts'
import { type Project, readProject } from '../../data/projects-store.ts'
import { families } from '../../families/index.ts'
import { conditionsOf } from '../../model/project.ts'
import { plural } from '../../model/words.ts'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { dayOnly } from '../../ui/exact-time.ts'
import { lazyPart } from '../../ui/lazy-part.ts'
import { createHref, objectsHref, projectHref } from '../../ui/links.ts'
import { ScrollingText } from '../../ui/scrolling-text.tsx'
import { useLive } from '../../ui/session-context.ts'
import { Empty, Loading, Outcome, Problem } from '../../ui/states.tsx'
import { useAct } from '../../ui/use-act.ts'
import { Changes } from './changes.tsx'
import { DataObjects } from './data-objects.tsx'
import { LimitsForm } from './limits-form.tsx'
import { Secrets } from './secrets.tsx'

const Hooks = lazyPart(() => import('./hooks/hooks.tsx'))

interface Props {
  readonly name: string
  readonly mayWrite: boolean
  readonly onGone: () => void
}
export function ProjectDetail({ name, mayWrite, onGone }: Props) {
  const store = useLive(
    name,
    (session, signal) =>
      new AskedStore(
        session,
        {
          ask: async (asked, reading) => ({ project: await readProject(asked, name, reading) }),
          // Roots write data objects, too.
          concerns: ({ projectName, kind }) => projectName === name && kind === 'INSTALLATION',
        },
        signal,
      ),
  )
  if (store?.error) return <Problem message={store.error} onRetry={store.refresh} />
  if (!store?.answer) return <Loading what="the project" />
  const { project } = store.answer
  if (!project) return <Empty title={`There is no project ${name} that you may see.`} />
  return (
    <div className="project">
      <Head project={project} mayWrite={mayWrite} onGone={onGone} />
      <Changes project={name} />
      <Runs project={project} />
      <Secrets project={name} secrets={project.secrets} mayWrite={mayWrite} onDone={store.refresh} />
      <LimitsForm project={name} limits={project.limits} mayWrite={mayWrite} onDone={store.refresh} />
      <DataObjects project={project} mayWrite={mayWrite} onDone={store.refresh} />
      <Suspense>
        <Hooks project={name} mayWrite={mayWrite} />
        {families().flatMap(({ name: family, projectParts = [] }) =>
          // biome-ignore lint/suspicious/noArrayIndexKey: the list of a family never changes
          projectParts.map((Part, i) => <Part key={`${family}${i}`} project={name} mayWrite={mayWrite} />),
        )}
      </Suspense>
    </div>
  )
}

interface HeadProps {
  readonly project: Project
  readonly mayWrite: boolean
  readonly onGone: () => void
}
function Head({ project: { name, createdAt, promotesTo, objectCount }, mayWrite, onGone }: HeadProps) {
  const { busy, result, ask } = useAct(() => undefined)
  const [sure, setSure] = useState(false)
  const remove = async (): Promise<void> => {
    setSure(false)
    const asked = {
      field: 'deleteProject',
      input: 'DeleteProjectInput',
      done: `${name} is deleted.`,
      variables: { name },
    }
    if ((await ask(asked)).ok) onGone()
  }
  return (
    <header className="project-head">
      <h2>{name}</h2>
      <span className="quiet">since {dayOnly(createdAt)}</span>
      {promotesTo !== null && (
        <span className="quiet">
          promotes to <Link href={projectHref(promotesTo)}>{promotesTo}</Link>
        </span>
      )}
      {objectCount !== null && (
        <Link href={objectsHref({ project: name, roots: false })}>{plural(objectCount, 'object')}</Link>
      )}
      {mayWrite && (
        <span className="actions end">
          <Link href={createHref('event', { on: name })} className="button">
            Create an event
          </Link>
          <Link href={createHref('project', { from: name })} className="button">
            Edit
          </Link>
          <button type="button" className="danger" disabled={busy} onClick={() => setSure(true)}>
            Delete
          </button>
        </span>
      )}
      {result?.ok === false && <Outcome result={result} />}
      {sure && (
        <ConfirmDialog
          title={`Delete ${name}?`}
          text={`Delete the project ${name} with its secrets, targets, hooks, subscriptions and data. It is refused while the project has objects.`}
          label="Delete"
          danger
          onConfirm={() => void remove()}
          onClose={() => setSure(false)}
        />
      )}
    </header>
  )
}

/** The subscriptions that start a worker, and its template. */
function Runs({ project: { subscriptions, workerTemplate } }: { readonly project: Project }) {
  return (
    <section className="card" aria-labelledby="runs">
      <h3 id="runs">Events and worker</h3>
      {subscriptions.length === 0 ? (
        <p className="quiet">It listens to no source: events reach it by its name only.</p>
      ) : (
        <ul className="things">
          {subscriptions.map((subscription) => (
            <li key={JSON.stringify(subscription)}>
              <span>
                <b>{subscription.source}</b> {conditionsOf(subscription)}
              </span>
              <span className="quiet">{subscription.task ? 'makes a task' : 'starts a worker'}</span>
            </li>
          ))}
        </ul>
      )}
      {workerTemplate ? (
        <details>
          <summary>
            Its worker runs {Array.isArray(workerTemplate.command) ? workerTemplate.command.join(' ') : ''}
          </summary>
          <ScrollingText>{JSON.stringify(workerTemplate, null, 2)}</ScrollingText>
        </details>
      ) : (
        <p className="quiet">It has no worker template: an event would have nothing to run.</p>
      )}
      <p className="quiet">Each event keeps what was there when it came.</p>
    </section>
  )
}
