import { getField } from 'phaseline/manifest'
import { useDeferredValue, useMemo, useState } from 'react'
import { useLocation } from 'wouter'
import { createObject } from '../../data/create.ts'
import type { Opened } from '../../data/open-installation.ts'
import { readInstallation, refusedAt } from '../../model/manifest-text.ts'
import { treeHref } from '../../ui/links.ts'
import { useSession } from '../../ui/session-context.ts'
import { useDraft } from './drafts.ts'
import { applyInstallation } from './installation-input.ts'
import { useCreate } from './use-create.ts'
import { useExisting } from './use-existing.ts'
import { usePlan } from './use-plan.ts'

const EMPTY = 'name: my-installation\nspec:\n  deployItems: []\n'

/** A manifest as it is typed, what is wrong with it, and what would come of it. */
export function useInstallation(initial: string | null, opened: Opened | null) {
  const { client } = useSession()
  const [, navigate] = useLocation()
  const [text, setText, dropDraft] = useDraft(`installation ${opened?.id ?? ''}`, initial, EMPTY)
  const { busy, refused, forget, create } = useCreate()
  const [attempt, setAttempt] = useState(0)
  const judged = useDeferredValue(text)
  const read = useMemo(() => readInstallation(judged), [judged])
  const place = { project: getField(text, 'project') || 'default', name: getField(text, 'name') ?? '' }
  const found = useExisting({ ...place, kind: 'INSTALLATION' })
  const apply = read.ok && found ? applyInstallation(read.value, found.existing) : null
  const basis = `${found?.existing?.generation ?? 'new'} ${found?.existing?.phase ?? ''} ${attempt}`
  const { planned, key } = usePlan(apply?.plan ?? null, basis)
  const refusedPlan = planned && !planned.outcome.ok ? planned.outcome.refusal : null
  return {
    ...{ text, place, found, planned, busy, refused },
    /** By the mutation, or already by the plan. */
    judgement: refused ?? refusedPlan,
    problems: read.ok ? refusedAt(judged, refused ?? refusedPlan) : read.problems,
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
