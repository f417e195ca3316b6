import { useMemo, useState } from 'react'
import { useLocation } from 'wouter'
import { ask } from '../../../data/create.ts'
import { readInstallation, refusedAt } from '../../../model/manifest-text.ts'
import { useDraft } from '../../../pages/create/drafts.ts'
import { useFields } from '../../../pages/create/manifest-fields.tsx'
import { useCreate } from '../../../pages/create/use-create.ts'
import { useJudged } from '../../../pages/create/use-judged.ts'
import { treeHref } from '../../../ui/links.ts'
import { useSession } from '../../../ui/session-context.ts'
import { CREATE_INSTALLATION, type Opened, UPDATE_INSTALLATION } from '../data.ts'
import { applyInstallation } from './installation-input.ts'
import { useExisting } from './use-existing.ts'
import { usePlan } from './use-plan.ts'

const EMPTY = 'name: my-installation\nspec:\n  deployItems: []\n'

/** The manifest while it is typed, its problems, and its plan. */
export function useInstallation(initial: string | null, opened: Opened | null) {
  const { client } = useSession()
  const [, navigate] = useLocation()
  const [text, setText, dropDraft] = useDraft(`installation ${opened?.id ?? ''}`, initial, EMPTY)
  const { busy, refused, forget, create } = useCreate()
  const [attempt, setAttempt] = useState(0)
  const judged = useJudged(text)
  const read = useMemo(() => readInstallation(judged), [judged])
  const fields = useFields(text, judged)
  const place = { project: fields.project || 'default', name: fields.name ?? '' }
  const found = useExisting(place, refused)
  const apply = useMemo(() => (read.ok && found ? applyInstallation(read.value, found.existing) : null), [read, found])
  const basis = `${found?.existing?.generation ?? 'new'} ${found?.existing?.phase ?? ''} ${attempt}`
  const { planned, key } = usePlan(apply?.plan ?? null, basis)
  const refusedPlan = planned && !planned.outcome.ok ? planned.outcome.refusal : null
  /** The refusal of the mutation, or already of the plan. */
  const judgement = refused ?? refusedPlan
  const problems = useMemo(() => (read.ok ? refusedAt(judged, judgement) : read.problems), [read, judged, judgement])
  return {
    ...{ text, fields, judgement, problems, place, found, planned, busy, refused },
    isCurrent: planned !== null && planned.of === key && judged === text,
    isUpdate: apply?.isUpdate ?? false,
    planInput: apply && JSON.stringify(apply.plan),
    lookAgain: () => setAttempt(attempt + 1),
    change: (next: string): void => {
      setText(next)
      forget()
    },
    submit: (): void => {
      if (!apply) return
      const send = (input: object) =>
        apply.isUpdate ? ask(client, UPDATE_INSTALLATION, input) : ask(client, CREATE_INSTALLATION, input)
      void create(apply.input, send, ({ root }) => {
        dropDraft()
        navigate(treeHref(root.id))
      })
    },
  }
}
