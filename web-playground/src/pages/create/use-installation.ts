import { useMemo, useState } from 'react'
import { useLocation } from 'wouter'
import { createObject } from '../../data/create.ts'
import type { Opened } from '../../data/open-installation.ts'
import { readInstallation, refusedAt } from '../../model/manifest-text.ts'
import { treeHref } from '../../ui/links.ts'
import { useSession } from '../../ui/session-context.ts'
import { useDraft } from './drafts.ts'
import { applyInstallation } from './installation-input.ts'
import { useFields } from './manifest-fields.tsx'
import { useCreate } from './use-create.ts'
import { useExisting } from './use-existing.ts'
import { useJudged } from './use-judged.ts'
import { usePlan } from './use-plan.ts'

const EMPTY = 'name: my-installation\nspec:\n  deployItems: []\n'

/** A manifest as it is typed, what is wrong with it, and what would come of it. */
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
  const found = useExisting({ ...place, kind: 'INSTALLATION' }, refused)
  const apply = useMemo(() => (read.ok && found ? applyInstallation(read.value, found.existing) : null), [read, found])
  const basis = `${found?.existing?.generation ?? 'new'} ${found?.existing?.phase ?? ''} ${attempt}`
  const { planned, key } = usePlan(apply?.plan ?? null, basis)
  const refusedPlan = planned && !planned.outcome.ok ? planned.outcome.refusal : null
  /** By the mutation, or already by the plan. */
  const judgement = refused ?? refusedPlan
  const problems = useMemo(() => (read.ok ? refusedAt(judged, judgement) : read.problems), [read, judged, judgement])
  return {
    ...{ text, fields, judgement, problems, place, found, planned, busy, refused },
    isCurrent: planned !== null && planned.of === key && judged === text,
    isUpdate: apply?.field === 'updateInstallation',
    lookAgain: () => setAttempt(attempt + 1),
    change: (next: string): void => {
      setText(next)
      forget()
    },
    submit: (): void => {
      if (!apply) return
      const send = async (input: object) => {
        const done = await createObject(client, apply.field, input)
        if (!done.ok || !apply.ignore) return done
        return await createObject(client, 'updateInstallation', { id: done.value.id, ignored: true })
      }
      void create(apply.input, send, ({ root }) => {
        dropDraft()
        navigate(treeHref(root.id))
      })
    },
  }
}
