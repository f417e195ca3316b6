import type { TargetSelector } from 'phaseline/client-model'

/** Agents, the work that they have claimed, and the work that no agent can claim. */

export interface Agent {
  readonly id: string
  readonly name: string
  readonly instance: string
  readonly actor: string
  readonly types: readonly string[]
  /** Null: any, or with a selector those that it selects. */
  readonly targets: readonly string[] | null
  readonly targetSelector: TargetSelector | null
  readonly connected: boolean
  readonly connectedAt: string
  readonly seenAt: string
}
export interface WorkObject {
  readonly id: string
  readonly kind: string
  readonly name: string
  readonly phase: string
  readonly phaseSince: string
  readonly root: { readonly id: string; readonly name: string }
  readonly blockedBy: readonly {
    readonly reason: string
    readonly message: string
    readonly types?: readonly string[] | undefined
    readonly connected?: boolean | undefined
  }[]
  readonly agent?:
    | { readonly name: string; readonly instance: string; readonly leaseUntil: string | null }
    | null
    | undefined
}
export interface Busy {
  readonly agent: Agent
  readonly claimed: readonly WorkObject[]
}
/** Work of a type without a connected agent. */
export interface Unserved {
  readonly type: string
  /** The longest wait first. */
  readonly objects: readonly WorkObject[]
}

/** Connected agents first, among them those with the most work. */
export function busyAgents(agents: readonly Agent[], work: readonly WorkObject[]): readonly Busy[] {
  const claimed = new Map<string, WorkObject[]>()
  for (const object of work) {
    // Without a lease the agent is that of the last claim.
    if (!object.agent?.leaseUntil) continue
    const key = keyOf(object.agent)
    claimed.set(key, [...(claimed.get(key) ?? []), object])
  }
  return agents
    .map((agent) => ({ agent, claimed: claimed.get(keyOf(agent)) ?? [] }))
    .toSorted(
      (a, b) =>
        Number(b.agent.connected) - Number(a.agent.connected) ||
        b.claimed.length - a.claimed.length ||
        a.agent.name.localeCompare(b.agent.name) ||
        b.agent.seenAt.localeCompare(a.agent.seenAt),
    )
}
const keyOf = ({ name, instance }: { readonly name: string; readonly instance: string }): string =>
  JSON.stringify([name, instance])

/**
 * Types of work without a connected agent, with all objects that wait for them, also through others; the longest queue
 * first.
 */
export function unservedOf(work: readonly WorkObject[]): readonly Unserved[] {
  const byType = new Map<string, WorkObject[]>()
  for (const object of work) {
    for (const type of new Set(object.blockedBy.flatMap(missingTypes))) {
      byType.set(type, [...(byType.get(type) ?? []), object])
    }
  }
  return [...byType]
    .map(([type, objects]) => ({
      type,
      objects: objects.toSorted((a, b) => a.phaseSince.localeCompare(b.phaseSince)),
    }))
    .toSorted((a, b) => b.objects.length - a.objects.length || a.type.localeCompare(b.type))
}
const missingTypes = ({ reason, connected, types }: WorkObject['blockedBy'][number]): readonly string[] =>
  reason === 'AGENT' && connected === false ? (types ?? []) : []
