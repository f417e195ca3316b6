import type { ComponentType } from 'react'
import type { Actable } from '../model/actions.ts'
import type { Example } from '../model/examples.ts'
import type { FormExample } from '../pages/create/form-example.ts'

/** What the dashboard has for one family, besides what it shows of every family. Cheap to load. */
export interface DashboardFamily {
  /** As the server names it: a server without it has none of this. */
  readonly name: string
  readonly pages: readonly FamilyPage[]
  /** The form with which one begins. */
  readonly firstForm: string
  /** Forms that begin with an object. */
  linksFor(object: Actable): readonly FormLink[]
  /** Loaded with the page that creates. */
  forms(): Promise<readonly CreateForm[]>
  /** Loaded with the page to explore the API. */
  examples(): Promise<readonly Example[]>
}

export interface FamilyPage {
  readonly path: `/${string}`
  readonly label: string
  readonly component: ComponentType
  /** Agents that are shown there, instead of on the page of agents. */
  readonly agents?: string
}

export type FormLink = readonly [label: string, href: string]

/** What can be created, with its form. */
export interface CreateForm {
  /** Unique, as in its address. */
  readonly name: string
  readonly label: string
  /** What it creates. */
  readonly about: string
  readonly examples: readonly FormExample[]
  readonly component: ComponentType
}
