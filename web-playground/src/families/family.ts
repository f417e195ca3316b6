import type { ComponentType } from 'react'
import type { Actable, Action } from '../model/actions.ts'
import type { Example } from '../model/examples.ts'
import type { NavPage } from '../model/navigation.ts'
import type { FormExample } from '../pages/create/form-example.ts'

/** The parts of the dashboard that only one family has. Cheap to load. */
export interface DashboardFamily {
  /** The family's name on the server: a server without the family shows none of this. */
  readonly name: string
  readonly pages: readonly FamilyPage[]
  /** The form to begin with, and one of its examples; absent: the family has none. */
  readonly firstForm?: { readonly name: string; readonly example: string }
  /** Sections of the page of a project. */
  readonly projectParts?: readonly ComponentType<ProjectPartProps>[]
  /** Actions on an object that the root of its tree takes. */
  actionsFor?(object: Actable & { readonly name: string }, root: Actable): readonly Action[]
  /** Forms that begin with an object. */
  linksFor(object: Actable): readonly FormLink[]
  /** Loaded with the page that creates. */
  forms(): Promise<readonly CreateForm[]>
  /** Loaded with the page to explore the API. */
  examples(): Promise<readonly Example[]>
}

export interface ProjectPartProps {
  readonly project: string
  readonly mayWrite: boolean
}

/** A page names the section of the menu that it is in. */
export interface FamilyPage extends NavPage {
  /** Absent: another page draws it, as its query asks. */
  readonly component?: ComponentType
  /** Actors whose agents the family's page shows, instead of the page of agents. */
  readonly agents?: string
}

export type FormLink = readonly [label: string, href: string]

/** An object that users can create, and its form. */
export interface CreateForm {
  /** Unique; part of the form's address. */
  readonly name: string
  readonly label: string
  /** The kind that the form creates. */
  readonly about: string
  readonly examples: readonly FormExample[]
  readonly component: ComponentType
}
