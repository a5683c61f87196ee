// The steps of a review: which of them a state allows, and the call of a tool that takes each.

export const STEPS = { draft: ["propose"], proposed: ["approve", "reject"], approved: ["publish"], rejected: ["propose"], published: [] };

export const CALLS = {
  propose: (jobId) => ["propose_plan", { job_id: jobId }],
  publish: (jobId) => ["publish_plan", { job_id: jobId }],
  approve: (jobId) => ["review_plan", { job_id: jobId, decision: "approve" }],
  reject: (jobId, reason) => ["review_plan", { job_id: jobId, decision: "reject", reason }],
};
