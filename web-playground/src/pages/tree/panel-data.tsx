import type { Details } from '../../data/details-store.ts'
import { dateTime } from '../../ui/exact-time.ts'
import { ExportedLinks } from '../../ui/exported-links.tsx'
import { ScrollingText } from '../../ui/scrolling-text.tsx'

type Field = readonly [field: keyof Details, label: string]

/** Shown as JSON, in this order. */
const PARTS: readonly Field[] = [
  ['exports', 'Exports'],
  ['imports', 'Imports'],
  ['spec', 'Spec'],
  ['config', 'Config'],
  ['workloadSpec', 'Runs'],
  ['args', 'Arguments'],
]
const PROPERTIES: readonly Field[] = [
  ['description', 'Description'],
  ['type', 'Type'],
  ['target', 'Target'],
  ['gadget', 'Gadget'],
  ['activity', 'Activity'],
  ['attempt', 'Attempt of this run'],
  ['commit', 'Commit'],
  ['exitCode', 'Exit code'],
  ['signal', 'Signal'],
  ['version', 'Version'],
  ['epoch', 'Epoch'],
  ['upgradePhase', 'Upgrade'],
]

export function PanelData({ details }: { readonly details: Details }) {
  const { labels, generation, observedGeneration, revision, id } = details
  // The first attempt says nothing, and would look like the first run.
  const properties = PROPERTIES.filter(
    ([field]) => isThere(details[field]) && !(field === 'attempt' && details.attempt === 1),
  )
  return (
    <>
      {PARTS.filter(([field]) => isThere(details[field])).map(([field, label]) => (
        <details key={field} open={field === 'exports'}>
          <summary>{label}</summary>
          {field === 'exports' && <ExportedLinks exports={details.exports} />}
          <ScrollingText>{JSON.stringify(details[field], null, 2)}</ScrollingText>
        </details>
      ))}
      <details>
        <summary>Properties</summary>
        <dl>
          {properties.map(([field, label]) => (
            <Property key={field} label={label} value={String(details[field])} />
          ))}
          {details.agent && <Property label="Agent" value={`${details.agent.name} ${details.agent.instance}`} />}
          {labels.length > 0 && (
            <Property label="Labels" value={labels.map(({ key, value }) => `${key}=${value}`).join(', ')} />
          )}
          <Property label="Project" value={details.project.name} />
          <Property label="Created" value={dateTime(details.createdAt)} />
          <Property label="Updated" value={dateTime(details.updatedAt)} />
          <Property label="Generation" value={String(generation)} />
          {observedGeneration > 0 && <Property label="Used by the last run" value={String(observedGeneration)} />}
          <Property label="Revision" value={String(revision)} />
          <Property label="Id" value={id} />
        </dl>
      </details>
    </>
  )
}

function Property({ label, value }: { readonly label: string; readonly value: string }) {
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
