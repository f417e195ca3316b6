import { gql } from './gql.ts'

/** Mutations by their names, each with what identifies its outcome: sent by `ask`, which throws the message of a refusal. */
export const MUTATIONS = {
  createInstallation: gql(`mutation ($input: CreateInstallationInput!) {
    answer: createInstallation(input: $input) { __typename ... on Installation { id } ... on Error { code message } }
  }`),
  updateInstallation: gql(`mutation ($input: UpdateInstallationInput!) {
    answer: updateInstallation(input: $input) { __typename ... on Installation { id } ... on Error { code message } }
  }`),
  reconcileInstallation: gql(`mutation ($input: ReconcileInstallationInput!) {
    answer: reconcileInstallation(input: $input) { __typename ... on Installation { id } ... on Error { code message } }
  }`),
  cancelInstallation: gql(`mutation ($input: CancelInstallationInput!) {
    answer: cancelInstallation(input: $input) { __typename ... on Installation { id } ... on Error { code message } }
  }`),
  deleteInstallation: gql(`mutation ($input: DeleteInstallationInput!) {
    answer: deleteInstallation(input: $input) { __typename ... on Installation { id } ... on Error { code message } }
  }`),
  approve: gql(`mutation ($input: ApproveInput!) {
    answer: approve(input: $input) { __typename ... on DeployItem { phase } ... on Error { code message } }
  }`),
  reject: gql(`mutation ($input: RejectInput!) {
    answer: reject(input: $input) { __typename ... on DeployItem { phase } ... on Error { code message } }
  }`),
  signal: gql(`mutation ($input: SignalInput!) {
    answer: signal(input: $input) { __typename ... on DeployItem { phase } ... on Error { code message } }
  }`),
  createTask: gql(`mutation ($input: CreateTaskInput!) {
    answer: createTask(input: $input) { __typename ... on Task { id } ... on Error { code message } }
  }`),
  cancelTask: gql(`mutation ($input: CancelTaskInput!) {
    answer: cancelTask(input: $input) { __typename ... on Task { id } ... on Error { code message } }
  }`),
  resolveUndo: gql(`mutation ($input: ResolveUndoInput!) {
    answer: resolveUndo(input: $input) { __typename ... on GadgetJob { id } ... on Error { code message } }
  }`),
  createProject: gql(`mutation ($input: CreateProjectInput!) {
    answer: createProject(input: $input) { __typename ... on Project { id } ... on Error { code message } }
  }`),
  createEvent: gql(`mutation ($input: CreateEventInput!) {
    answer: createEvent(input: $input) { __typename ... on CreatedEvents { events { id name } } ... on Error { code message } }
  }`),
  cancelEvent: gql(`mutation ($input: CancelEventInput!) {
    answer: cancelEvent(input: $input) { __typename ... on Event { id } ... on Error { code message } }
  }`),
  deleteEvent: gql(`mutation ($input: DeleteEventInput!) {
    answer: deleteEvent(input: $input) { __typename ... on Event { id } ... on Error { code message } }
  }`),
  createJob: gql(`mutation ($input: CreateJobInput!) {
    answer: createJob(input: $input) { __typename ... on Job { id } ... on Error { code message } }
  }`),
  createCloudlet: gql(`mutation ($input: CreateCloudletInput!) {
    answer: createCloudlet(input: $input) { __typename ... on Cloudlet { id } ... on Error { code message } }
  }`),
  upgradeCloudlet: gql(`mutation ($input: UpgradeCloudletInput!) {
    answer: upgradeCloudlet(input: $input) { __typename ... on Cloudlet { id } ... on Error { code message } }
  }`),
  resolveCloudletUpgrade: gql(`mutation ($input: ResolveCloudletUpgradeInput!) {
    answer: resolveCloudletUpgrade(input: $input) { __typename ... on Cloudlet { id } ... on Error { code message } }
  }`),
  createClusterInst: gql(`mutation ($input: CreateClusterInstInput!) {
    answer: createClusterInst(input: $input) { __typename ... on ClusterInst { id } ... on Error { code message } }
  }`),
  updateClusterInst: gql(`mutation ($input: UpdateClusterInstInput!) {
    answer: updateClusterInst(input: $input) { __typename ... on ClusterInst { id } ... on Error { code message } }
  }`),
  cancelClusterInst: gql(`mutation ($input: CancelClusterInstInput!) {
    answer: cancelClusterInst(input: $input) { __typename ... on ClusterInst { id } ... on Error { code message } }
  }`),
  deleteClusterInst: gql(`mutation ($input: DeleteClusterInstInput!) {
    answer: deleteClusterInst(input: $input) { __typename ... on ClusterInst { id } ... on Error { code message } }
  }`),
  createAppInst: gql(`mutation ($input: CreateAppInstInput!) {
    answer: createAppInst(input: $input) { __typename ... on AppInst { id } ... on Error { code message } }
  }`),
  updateAppInst: gql(`mutation ($input: UpdateAppInstInput!) {
    answer: updateAppInst(input: $input) { __typename ... on AppInst { id } ... on Error { code message } }
  }`),
  cancelAppInst: gql(`mutation ($input: CancelAppInstInput!) {
    answer: cancelAppInst(input: $input) { __typename ... on AppInst { id } ... on Error { code message } }
  }`),
  deleteAppInst: gql(`mutation ($input: DeleteAppInstInput!) {
    answer: deleteAppInst(input: $input) { __typename ... on AppInst { id } ... on Error { code message } }
  }`),
  createToken: gql(`mutation ($input: CreateTokenInput!) {
    answer: createToken(input: $input) { __typename ... on CreatedToken { secret } ... on Error { code message } }
  }`),
  setDataObject: gql(`mutation ($input: SetDataObjectInput!) {
    answer: setDataObject(input: $input) { __typename ... on DataObject { name } ... on Error { code message } }
  }`),
  setSecret: gql(`mutation ($input: SetSecretInput!) {
    answer: setSecret(input: $input) { __typename ... on Secret { name } ... on Error { code message } }
  }`),
  setTarget: gql(`mutation ($input: SetTargetInput!) {
    answer: setTarget(input: $input) { __typename ... on Target { id generation } ... on Error { code message } }
  }`),
  appendLogs: gql(`mutation ($input: AppendLogsInput!) {
    answer: appendLogs(input: $input) { __typename ... on AppendedLogs { accepted } ... on Error { code message } }
  }`),
  reportPhases: gql(`mutation ($input: ReportPhasesInput!) {
    answer: reportPhases(input: $input) {
      __typename ... on PhaseReports { results { __typename ... on Error { message } } } ... on Error { code message }
    }
  }`),
}
