"""A whole suite played: the plan, its episodes in processes of their own, what became of them."""
