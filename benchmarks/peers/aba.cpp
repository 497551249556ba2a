/* Pinocchio's aba in a loop, from C++: reads a tree from its input, writes the time of a call and the accelerations.
 *
 * Input: the number of links; of each its parent (-1: the world), kind (revolute, prismatic, free), axis, origin in the
 * parent's frame, mass, centre and the inertia about it (xx xy yy xz yz zz); gravity; q; v. Aligned axes get the joint
 * models that Pinocchio has for them, which are its fastest. Everything is compiled here from its headers, for this
 * processor. */

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <string>

#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/multibody.hpp>

namespace pin = pinocchio;
using Eigen::Vector3d;

static Vector3d vector()
{
    Vector3d v;
    std::cin >> v.x() >> v.y() >> v.z();
    return v;
}

static pin::JointModel joint_of(const std::string &kind, const Vector3d &axis)
{
    const bool is_x = axis == Vector3d::UnitX(), is_y = axis == Vector3d::UnitY(), is_z = axis == Vector3d::UnitZ();
    if (kind == "free") return pin::JointModelFreeFlyer();
    if (kind == "prismatic") {
        if (is_x) return pin::JointModelPX();
        if (is_y) return pin::JointModelPY();
        if (is_z) return pin::JointModelPZ();
        return pin::JointModelPrismaticUnaligned(axis);
    }
    if (is_x) return pin::JointModelRX();
    if (is_y) return pin::JointModelRY();
    if (is_z) return pin::JointModelRZ();
    return pin::JointModelRevoluteUnaligned(axis);
}

static double cpu()
{
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

int main()
{
    int count = 0;
    std::cin >> count;
    pin::Model model;
    for (int i = 0; i < count; i++) {
        int parent;
        std::string kind;
        std::cin >> parent >> kind;
        const Vector3d axis = vector(), origin = vector();
        double mass;
        std::cin >> mass;
        const Vector3d center = vector(), first = vector(), second = vector();
        pin::Symmetric3 inertia(first[0], first[1], first[2], second[0], second[1], second[2]);
        const auto placement = pin::SE3(Eigen::Matrix3d::Identity(), origin);
        const auto index = model.addJoint(parent + 1, joint_of(kind, axis), placement, "joint" + std::to_string(i));
        model.appendBodyToJoint(index, pin::Inertia(mass, center, inertia), pin::SE3::Identity());
    }
    model.gravity.linear() = vector();
    Eigen::VectorXd q(model.nq), v(model.nv), tau = Eigen::VectorXd::Zero(model.nv);
    for (auto &value : q) std::cin >> value;
    for (auto &value : v) std::cin >> value;
    if (!std::cin) return 1;

    pin::Data data(model);
    long calls = 1;
    const auto batch = [&] {
        const double begin = cpu();
        for (long i = 0; i < calls; i++) pin::aba(model, data, q, v, tau, pin::Convention::LOCAL);
        return cpu() - begin;
    };
    while (batch() < 2e-3) calls *= 2;
    double least = batch();
    for (int i = 1; i < 30; i++) least = std::min(least, batch());
    const Eigen::VectorXd local = data.ddq;
    std::printf("%.17g\n", least / calls);
    for (double value : local) std::printf("%.17g\n", value);
    return 0;
}
