import type { Details } from '../../data/details-store.ts'

type Field = readonly [field: keyof Details, label: string]

/** Shown as JSON, in this order. */
const PARTS: readonly Field[] = [
  ['exports', 'Exports'],
  ['imports', 'Imports'],
  ['installationSpec', 'Spec'],
  ['config', 'Config'],
  ['workload', 'Runs'],
  ['instanceSpec', 'Spec'],
  ['args', 'Arguments'],
]
const FACTS: readonly Field[] = [
  ['type', 'Type'],
  ['target', 'Target'],
  ['gadget', 'Gadget'],
  ['activity', 'Activity'],
  ['attempt', 'Attempt'],
  ['exitCode', 'Exit code'],
  ['signal', 'Signal'],
  ['version', 'Version'],
  ['epoch', 'Epoch'],
  ['upgradePhase', 'Upgrade'],
]

export function PanelData({ details }: { readonly details: Details }) {
  const { labels, generation, observedGeneration, revision, id } = details
  const facts = FACTS.filter(([field]) => isThere(details[field]))
  return (
    <>
      {PARTS.filter(([field]) => isThere(details[field])).map(([field, label]) => (
        <details key={field} open={field === 'exports'}>
          <summary>{label}</summary>
          <pre>{JSON.stringify(details[field], null, 2)}</pre>
        </details>
      ))}
      <details>
        <summary>Facts</summary>
        <dl>
          {facts.map(([field, label]) => (
            <Fact key={field} label={label} value={String(details[field])} />
          ))}
          {details.agent && <Fact label="Agent" value={`${details.agent.name} ${details.agent.instance}`} />}
          {labels.length > 0 && (
            <Fact label="Labels" value={labels.map(({ key, value }) => `${key}=${value}`).join(', ')} />
          )}
          <Fact label="Project" value={details.project.name} />
          <Fact label="Created" value={new Date(details.createdAt).toLocaleString()} />
          <Fact label="Updated" value={new Date(details.updatedAt).toLocaleString()} />
          <Fact label="Generation" value={`${generation}, observed ${observedGeneration}`} />
          <Fact label="Revision" value={String(revision)} />
          <Fact label="Id" value={id} />
        </dl>
      </details>
    </>
  )
}

function Fact({ label, value }: { readonly label: string; readonly value: string }) {
  return (
    <>
      <dt>{label}</dt>
      <dd>{value}</dd>
    </>
  )
}

const isThere = (value: unknown): boolean =>
  value !== null &&
  value !== undefined &&
  value !== '' &&
  !(typeof value === 'object' && Object.keys(value).length === 0)
