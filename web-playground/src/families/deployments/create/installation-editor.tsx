import { EditorField } from '../../../pages/create/editor-field.tsx'
import { ExampleBar } from '../../../pages/create/example-bar.tsx'
import { ManifestFields } from '../../../pages/create/manifest-fields.tsx'
import { useMayNot } from '../../../pages/create/may.ts'
import type { Opened } from '../data.ts'
import { INSTALLATIONS } from './examples.ts'
import { Changed, WhatIsThere } from './existing-note.tsx'
import { PlanCard } from './plan-card.tsx'
import { useInstallation } from './use-installation.ts'

interface Props {
  readonly initial: string | null
  readonly example: string | null
  /** The installation to edit or copy. */
  readonly opened: Opened | null
  readonly onReopen?: () => void
}

/** The manifest, and its plan next to it. */
export function InstallationEditor({ initial, example, opened, onReopen }: Props) {
  const mayNot = useMayNot()
  const form = useInstallation(initial, opened)
  const { text, problems, change, found, place } = form
  return (
    <form
      className="create-form beside"
      onSubmit={(event) => {
        event.preventDefault()
        if (form.isCurrent) form.submit()
      }}
    >
      <div className="create-main">
        {!opened && <ExampleBar examples={INSTALLATIONS} chosen={example} onChoose={(one) => change(one.text)} />}
        {opened?.nested && (
          <p className="notice">{opened.name} is part of another installation: this makes a root of its own of it.</p>
        )}
        <ManifestFields
          text={text}
          fields={form.fields}
          onChange={change}
          refused={form.judgement}
          about={<WhatIsThere found={found} place={place} />}
        />
        <Changed opened={opened} found={found} onReopen={() => onReopen?.()} />
        <EditorField label="Manifest" kind="Installation" value={text} problems={problems} onChange={change} />
      </div>
      <PlanCard
        input={form.planInput}
        planned={form.planned}
        isCurrent={form.isCurrent}
        isUpdate={form.isUpdate}
        busy={form.busy}
        refused={form.refused}
        missing={mayNot ?? (problems.length > 0 ? 'Fix the errors marked in the manifest first.' : null)}
        onAgain={form.lookAgain}
      />
    </form>
  )
}
