import { gql } from './gql.ts'

export const PROJECT_NAMES = gql(`query ProjectNames($after: String) {
  projects(first: 500, after: $after) { totalCount pageInfo { hasNextPage endCursor } edges { node { name } } }
}`)

export const PROJECT_NAME = gql('query ProjectName($name: String!) { project(name: $name) { name } }')

export const PROJECTS = gql(`query Projects($after: String) {
  viewer { role projects }
  projects(first: 500, after: $after) {
    pageInfo { hasNextPage endCursor }
    edges { node { name workerTemplate { runtime } subscriptions { source } secrets { name } } }
  }
}`)

const WORKLOAD =
  'runtime command args image timeoutMs workspace env { name value } files { path content secret } clone { url ref depth path secret } services { name image command args ports }'
const PAIR = '{ key value }'
export const PROJECT = gql(`query Project($name: String!) {
  project(name: $name) {
    name createdAt promotesTo
    limits { maxWorkers maxJobs strategy }
    workerTemplate { ${WORKLOAD} }
    subscriptions { source types labels ${PAIR} qualifiers ${PAIR} task }
    secrets { name updatedAt }
    dataObjects(first: 500) {
      totalCount
      edges { node { name value updatedAt exporter { id kind name phase root { id } } } }
    }
  }
  objects(filter: { project: $name }, first: 0) { totalCount }
}`)
