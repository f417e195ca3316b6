import type { Machine, Transition } from '../../core/machine.ts'
import type { PhaseChangeRecord } from '../../core/ports/phase-change.ts'
import type { ObjectRow } from '../../core/tree.ts'
import type { ObjectDifference } from '../../log/diff-states.ts'
import type { OutputLine } from '../../log/output/search-output.ts'
import type { AgentRow } from '../../store/loaders/agents.ts'
import type { LogLineRow } from '../../store/loaders/log-lines.ts'
import type { DataObjectRow, PagedDataObjectRow, ProjectRow } from '../../store/loaders/projects.ts'
import type { BlockerValue } from '../family.ts'
import { builder } from './builder.ts'

/** Two places of the log, with the objects of a tree that differ between them. */
export interface TreeDiffValue {
  readonly rootId: string
  readonly from: number
  readonly to: number
  readonly fromTime: Date
  readonly toTime: Date
  readonly objects: readonly ObjectDifference[]
}

/** Declares the shared types, so that they can refer to each other. The module of its name implements each. */

/** A member of a result union is known by its `__typename`. */
export type DataObjectValue = DataObjectRow & Partial<PagedDataObjectRow> & { readonly __typename: 'DataObject' }

export const NodeRef = builder.nodeInterfaceRef()
export const TreeObjectRef = builder.interfaceRef<ObjectRow>('TreeObject')
export const BlockerRef = builder.interfaceRef<BlockerValue>('Blocker')
export const ProjectRef = builder.objectRef<ProjectRow>('Project')
export const DataObjectRef = builder.objectRef<DataObjectValue>('DataObject')
export const PhaseChangeRef = builder.objectRef<PhaseChangeRecord>('PhaseChange')
export const LogLineRef = builder.objectRef<LogLineRow>('LogLine')
export const OutputLineRef = builder.objectRef<OutputLine>('OutputLine')
export const TreeDiffRef = builder.objectRef<TreeDiffValue>('TreeDiff')
export const AgentRef = builder.objectRef<AgentRow>('Agent')
export const StateMachineRef = builder.objectRef<Machine>('StateMachine')
export const TransitionRef = builder.objectRef<Transition>('Transition')

export const TreeObjectConnection = builder.connectionObject({ name: 'TreeObjectConnection', type: TreeObjectRef }, {})
export const PhaseChangeConnection = builder.connectionObject(
  { name: 'PhaseChangeConnection', type: PhaseChangeRef },
  {},
)
export const LogLineConnection = builder.connectionObject({ name: 'LogLineConnection', type: LogLineRef }, {})
export const OutputLineConnection = builder.connectionObject({ name: 'OutputLineConnection', type: OutputLineRef }, {})
export const ProjectConnection = builder.connectionObject({ name: 'ProjectConnection', type: ProjectRef }, {})
export const DataObjectConnection = builder.connectionObject({ name: 'DataObjectConnection', type: DataObjectRef }, {})
export const AgentConnection = builder.connectionObject({ name: 'AgentConnection', type: AgentRef }, {})
