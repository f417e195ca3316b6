import type { Pool } from 'pg'
import type { System } from '../../core/ports/system.ts'
import { inAllProjects, RIGHTS, type Right } from '../../core/rights.ts'
import type { Trees } from '../../families/family.ts'
import type { Editor } from '../../families/on-behalf.ts'
import type { RecordKind } from '../../families/project-records.ts'
import type { Trigger } from '../../families/trigger.ts'
import type { Sandbox } from '../../sandbox/index.ts'
import { HOOKS, type HookRow } from '../../store/hooks.ts'
import type { NewRecord, ProjectRecords } from '../../store/project-records.ts'
import type { Sealing } from '../../store/sealing.ts'
import type { HookSpec } from '../rules/spec.ts'

export interface HookParts {
  readonly trees: Trees
  readonly sandbox: Sandbox
  readonly system: System
  readonly pool: Pool
  readonly sealing: Sealing
  /** The triggers of all families, by their names. */
  readonly triggers: Readonly<Record<string, Trigger>>
}
interface HookSettings extends Pick<HookRow, 'format' | 'description' | 'disabled'> {
  readonly spec: HookSpec
}
export type Hook = HookRow & HookSettings & { readonly editor: Editor }

export const HOOK: RecordKind<Hook, HookSettings> = {
  noun: 'hook',
  max: 100,
  rights: {
    read: RIGHTS.readHooks,
    create: RIGHTS.createHook,
    update: RIGHTS.updateHook,
    delete: RIGHTS.deleteHook,
  },
  records: HOOKS as ProjectRecords<Hook, NewRecord>,
}

/** The right that who edits a hook needs, when it is written and at each delivery. */
export const rightOf = ({ right }: Pick<Trigger, 'right'>, { projects }: Pick<HookSpec, 'projects'>): Right =>
  projects ? inAllProjects(right) : right

/** The trigger that a delivery calls. */
export const TRIGGER = 'createEvent'
