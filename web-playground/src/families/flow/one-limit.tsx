import { useState } from 'react'
import { Link } from 'wouter'
import { duration } from '../../model/words.ts'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { treeHref } from '../../ui/links.ts'
import { Phase, Since, Until } from '../../ui/phase.tsx'
import { useSession } from '../../ui/session-context.ts'
import { Outcome } from '../../ui/states.tsx'
import { useAct } from '../../ui/use-act.ts'
import { WrappingTable } from '../../ui/wrapping-table.tsx'
import type { Holder, Limit, Waiter } from './data.ts'
import { OverrideForm } from './override-form.tsx'
import { STRATEGIES, shownKey, writeRate } from './words.ts'

interface Props {
  readonly limit: Limit
  readonly onDone: () => Promise<unknown> | undefined
}
/** A limit with its keys, holders and queue. */
export function OneLimit({ limit, onDone }: Props) {
  const { id, name, project, description, max, maxPerKey, rate, debounceMs, pause, keys, holders, queue } = limit
  const { viewer } = useSession()
  const { busy, result, ask } = useAct(onDone)
  const [reason, setReason] = useState<string | null>(null)
  const mayEdit = viewer.edits(project.name)
  const bounds = [
    max !== null && `${max.toLocaleString('en')} at once`,
    maxPerKey !== null && `${maxPerKey.toLocaleString('en')} of each key`,
    rate && `${writeRate(rate)} of each key`,
    STRATEGIES[limit.strategy],
    debounceMs !== null && `${duration(debounceMs)} for newer ones`,
    limit.shared && `shared as ${project.name}/${name}`,
  ]
  const doPause = (): void => {
    setReason(null)
    const variables = { id, ...(reason && { reason }) }
    void ask({ field: 'pauseLimit', input: 'PauseLimitInput', done: 'Nothing starts that asks for it.', variables })
  }
  const resume = (): void =>
    void ask({ field: 'resumeLimit', input: 'ResumeLimitInput', done: 'It is resumed.', variables: { id } })
  return (
    <>
      <div className="page-head">
        <h1>{name}</h1>
        <span className="quiet">
          {project.name}: {bounds.filter(Boolean).join(', ')}
        </span>
        {mayEdit && (
          <button type="button" className="end" disabled={busy} onClick={() => (pause ? resume() : setReason(''))}>
            {pause ? 'Resume' : 'Pause'}
          </button>
        )}
      </div>
      {description && <p>{description}</p>}
      {pause && (
        <p className="notice">
          Paused by {pause.by} for <Since at={pause.at} />
          {pause.reason && `: ${pause.reason}`}
        </p>
      )}
      {result && <Outcome result={result} />}
      <Keys limit={limit} />
      {mayEdit && <OverrideForm id={id} keys={keys?.edges.map(({ node }) => node.key) ?? []} busy={busy} ask={ask} />}
      <Tickets title="Holds it" of={holders} none="Nothing holds it." />
      <Tickets title="Waits" of={queue} none="Nothing waits." />
      {reason !== null && (
        <ConfirmDialog
          title={`Pause ${name}?`}
          text="Nothing starts that asks for it. What runs goes on to its end, and you can resume it at any time."
          label="Pause"
          danger={false}
          onConfirm={doPause}
          onClose={() => setReason(null)}
        >
          <label>
            Reason <input value={reason} onChange={({ target }) => setReason(target.value)} />
          </label>
        </ConfirmDialog>
      )}
    </>
  )
}

/** Keys that are in use, and those that have bounds of their own. */
function Keys({ limit: { keys, overrides, weights } }: { readonly limit: Limit }) {
  const used = keys?.edges.map(({ node }) => node) ?? []
  const total = keys?.totalCount ?? used.length
  const others = overrides.filter(({ key }) => !used.some((one) => one.key === key))
  const rows = [...used, ...others.map(({ key }) => ({ key, runningCount: 0, waitingCount: 0 }))]
  if (rows.length === 0) return null
  return (
    <section className="card" aria-label="Keys">
      <WrappingTable
        label="Keys"
        columns={['Key', 'Running', 'Waiting', 'Weight', 'Override']}
        rows={rows.map(({ key, runningCount, waitingCount }) => {
          const override = overrides.find((one) => one.key === key)
          return {
            ...{ key, name: shownKey(key), action: null },
            cells: [
              runningCount.toLocaleString('en'),
              waitingCount.toLocaleString('en'),
              weights.find((one) => one.key === key)?.weight ?? 1,
              override ? (
                <>
                  {[
                    override.maxPerKey !== null && `${override.maxPerKey} at once`,
                    override.rate && writeRate(override.rate),
                  ]
                    .filter(Boolean)
                    .join(', ')}{' '}
                  by {override.by}, ends <Until at={override.until} />
                </>
              ) : (
                '–'
              ),
            ],
          }
        })}
      />
      {total > used.length && (
        <p className="quiet">
          The first {used.length} of {total.toLocaleString('en')} keys: the command line lists all.
        </p>
      )}
    </section>
  )
}

interface TicketsProps {
  readonly title: string
  readonly of: {
    readonly totalCount: number | null
    readonly edges: readonly { readonly node: Holder | Waiter }[]
  } | null
  readonly none: string
}
function Tickets({ title, of, none }: TicketsProps) {
  const { edges = [], totalCount } = of ?? {}
  const total = totalCount ?? edges.length
  return (
    <section className="card" aria-label={title}>
      <h2>{title}</h2>
      {edges.length === 0 && <p className="quiet">{none}</p>}
      <ul className="things">
        {edges.map(({ node }) => (
          <li key={`${node.object?.id} ${node.key}`}>
            <span className="thing-name">
              {node.object ? (
                <Link href={treeHref(node.object.root.id, node.object.id)}>{node.object.path}</Link>
              ) : (
                'an object that you may not see'
              )}
            </span>
            <span className="thing-end">
              {'position' in node
                ? `number ${node.position} of ${shownKey(node.key)}${node.priority === 0 ? '' : `, priority ${node.priority}`}`
                : shownKey(node.key)}{' '}
              for <Since at={'position' in node ? node.askedAt : (node.grantedAt ?? '')} />{' '}
              {node.object && <Phase phase={node.object.phase} />}
            </span>
          </li>
        ))}
      </ul>
      {total > edges.length && (
        <p className="quiet">
          The first {edges.length} of {total.toLocaleString('en')}.
        </p>
      )}
    </section>
  )
}
